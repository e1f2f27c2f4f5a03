/*
 * hyperslab: HDF5 files without libhdf5, from C and C++. Made from the functions by `make capi-header`.
 *
 * Every function that can fail returns HS_OK (0) or an HS_ERROR_...; hs_error() then has the message. Functions may be
 * called by several threads at once, also with the same handle. Text that comes in is UTF-8 and ends with a zero byte. A
 * path begins at the root group: "/a/b", or "a/b". A struct whose first field is `size` has its sizeof there, and zeros in
 * every field that is not used: hs_io_options options = {.size = sizeof options, .threads = 2};
 */

#ifndef HYPERSLAB_H
#define HYPERSLAB_H

#include <stddef.h>
#include <stdint.h>

// The call succeeded.
#define HS_OK 0

// An argument of the call: null, an unknown code, text that is not UTF-8, the size of a struct.
#define HS_ERROR_ARGUMENT 1

// A handle that is null, was closed, or is of another kind.
#define HS_ERROR_HANDLE 2

// The request cannot be fulfilled: a selection outside, no conversion, a file that is open for reading.
#define HS_ERROR_REQUEST 3

// There is no such file, object, link or attribute.
#define HS_ERROR_NOT_FOUND 4

// The name exists already.
#define HS_ERROR_EXISTS 5

// The file is damaged, or is not an HDF5 file.
#define HS_ERROR_FORMAT 6

// A chunk cannot be decoded or encoded, or the filters of a dataset are invalid.
#define HS_ERROR_CHUNK 7

// The medium failed.
#define HS_ERROR_IO 8

// The file is open elsewhere, in a way that excludes this opening.
#define HS_ERROR_LOCKED 9

// Valid HDF5, or a valid request, that hyperslab does not handle yet.
#define HS_ERROR_UNSUPPORTED 10

// A commit was interrupted: the file needs recovery, or has to be opened again.
#define HS_ERROR_RECOVERY 11

// A defect of hyperslab.
#define HS_ERROR_INTERNAL 12

// Opens an existing file for reading.
#define HS_READ 0

// Opens an existing file for reading and writing.
#define HS_WRITE 1

// Creates a file, in the place of an existing one.
#define HS_CREATE 2

// Creates a file. An existing one is an error.
#define HS_CREATE_NEW 3

// Opens a file for reading and writing, and creates it if it is missing.
#define HS_APPEND 4

// Type of elements in memory: the bytes of the file, in the file's datatype.
#define HS_STORED 0

// Type of elements in memory: the file's datatype, with numbers in this machine's byte order.
#define HS_NATIVE 1

// `int8_t`
#define HS_I8 2

// `int16_t`
#define HS_I16 3

// `int32_t`
#define HS_I32 4

// `int64_t`
#define HS_I64 5

// `uint8_t`
#define HS_U8 6

// `uint16_t`
#define HS_U16 7

// `uint32_t`
#define HS_U32 8

// `uint64_t`
#define HS_U64 9

// A float of 16 bits, IEEE 754.
#define HS_F16 10

// `float`
#define HS_F32 11

// `double`
#define HS_F64 12

// One byte, 0 or 1. Stored as h5py stores it: an enumeration of FALSE and TRUE.
#define HS_BOOL 13

// UTF-8 text of variable length.
#define HS_STRING 14

// The type that a datatype message describes: `type_message` of the options.
#define HS_MESSAGE 15

// Kind of an object.
#define HS_GROUP 0

// Kind of an object.
#define HS_DATASET 1

// Kind of an object: a committed datatype.
#define HS_DATATYPE 2

// Kind of a link: it names an object.
#define HS_LINK_HARD 0

// Kind of a link: it has a path in the same file.
#define HS_LINK_SOFT 1

// Kind of a link: it has a path in another file.
#define HS_LINK_EXTERNAL 64

// Space of an array: one element, no dimensions.
#define HS_SPACE_SCALAR 0

// Space of an array: one dimension or more.
#define HS_SPACE_SIMPLE 1

// Space of an array: no elements at all.
#define HS_SPACE_NULL 2

// Layout of a new dataset: contiguous, or in chunks where filters or a maximum shape need them.
#define HS_LAYOUT_DEFAULT 0

// Layout: in the header of the object.
#define HS_LAYOUT_COMPACT 1

// Layout: one range of bytes.
#define HS_LAYOUT_CONTIGUOUS 2

// Layout: in chunks.
#define HS_LAYOUT_CHUNKED 3

// Layout: in other datasets.
#define HS_LAYOUT_VIRTUAL 4

// Layout: in other files.
#define HS_LAYOUT_EXTERNAL 5

// Elements that were never written are zeros.
#define HS_FILL_DEFAULT 0

// Elements that were never written have no value.
#define HS_FILL_UNDEFINED 1

// Elements that were never written have the value of `hs_fill_value`.
#define HS_FILL_DEFINED 2

// The largest number of dimensions.
#define HS_MAX_RANK 32

// The maximum length of a dimension without limit.
#define HS_UNLIMITED UINT64_MAX

// The address of what has none.
#define HS_NO_ADDRESS UINT64_MAX

// `hs_object_info.orders`: the group keeps the order in which its links are created.
#define HS_ORDER_LINKS 1

// `hs_object_info.orders`: the object keeps the order in which its attributes are created.
#define HS_ORDER_ATTRIBUTES 2

// `hs_array_info.wanted`: count the stored bytes, which looks at every chunk.
#define HS_WANT_STORAGE 1

// `hs_filter.flags`: a chunk that the filter cannot encode is stored without it.
#define HS_FILTER_OPTIONAL 1

// `hs_filter.flags`: a chunk that the filter cannot encode is an error.
#define HS_FILTER_MANDATORY 2

// An open dataset. A handle is a number and no memory, as that of a file.
typedef struct hs_dataset hs_dataset;

// An open file. A handle is a number and no memory: it is never dereferenced, and a handle that was closed
// is an error.
typedef struct hs_file hs_file;

// The memory of items. A handle is a number and no memory, as that of a file.
typedef struct hs_memory hs_memory;

// Items that the library hands out, until `hs_free`: texts, or data of other kinds.
//
// Item `i` is the `lengths[i]` bytes from `bytes + offsets[i]` on. A text is followed by a zero byte, which
// is not counted. Items of other kinds begin at multiples of 8 of `bytes`, which is aligned to 8.
typedef struct {
    // The number of items.
    size_t count;
    // Where each item begins.
    const uint64_t *offsets;
    // The number of bytes of each item.
    const uint64_t *lengths;
    // The bytes of all items.
    const uint8_t *bytes;
    // What `hs_free` releases.
    hs_memory *owner;
} hs_items;

// The array of a dataset or an attribute.
typedef struct {
    // `sizeof(hs_array_info)`
    size_t size;
    // Given by the caller: 0, or `HS_WANT_STORAGE`.
    uint32_t wanted;
    // The number of dimensions.
    uint32_t rank;
    // `HS_SPACE_SCALAR`, `HS_SPACE_SIMPLE` or `HS_SPACE_NULL`.
    int32_t space;
    // The code of the type that has the same values, whatever the byte order of the file; `HS_STORED` if
    // there is none.
    int32_t type;
    // The class of the datatype in the file format: 0 integers, 1 floats, 3 strings of fixed length, 6
    // compounds, 9 strings and sequences of variable length, and others (section IV.A.2.d).
    int32_t type_class;
    // `HS_LAYOUT_...`; of an attribute `HS_LAYOUT_COMPACT`.
    int32_t layout;
    // `HS_FILL_...`; of an attribute `HS_FILL_UNDEFINED`.
    int32_t fill;
    // The number of filters.
    uint32_t filter_count;
    // The bytes of an element in the file.
    uint64_t element_size;
    // The number of elements.
    uint64_t elements;
    // The address of the header of the object.
    uint64_t address;
    // With `HS_WANT_STORAGE`: the bytes that the elements have in the file.
    uint64_t storage_bytes;
    // The length of each dimension.
    uint64_t shape[HS_MAX_RANK];
    // The maximum length of each dimension, or `HS_UNLIMITED`.
    uint64_t max_shape[HS_MAX_RANK];
    // The shape of a chunk, of a dataset in chunks.
    uint64_t chunk[HS_MAX_RANK];
} hs_array_info;

// How elements are read or written. Zeros are the defaults.
typedef struct {
    // `sizeof(hs_io_options)`
    size_t size;
    // The bytes of the caller's memory. A call that would go beyond them fails. 0 without `checked`: the
    // memory is as large as the call needs.
    size_t buffer_size;
    // For `HS_MESSAGE`: a datatype message of the file format (section IV.A.2.d).
    const void *type_message;
    // The bytes of `type_message`.
    size_t type_message_size;
    // For `hs_read`: the bytes from one element to the next along each dimension of the result. NULL: the
    // result has no gaps.
    const uint64_t *strides;
    // The number of threads. 0: that of `hs_set_threads`.
    uint32_t threads;
    // 1: `buffer_size` counts also if it is 0.
    uint32_t checked;
} hs_io_options;

// A stored chunk.
typedef struct {
    // `sizeof(hs_chunk_info)`
    size_t size;
    // 0: the chunk was never written.
    uint32_t is_stored;
    // Bit `i`: filter `i` was not applied.
    uint32_t mask;
    // The address of its bytes.
    uint64_t address;
    // The number of its bytes.
    uint64_t bytes;
} hs_chunk_info;

// A filter of a new dataset.
typedef struct {
    // The registered number: 1 deflate, 2 shuffle, 32015 Zstandard, and others.
    uint16_t id;
    // 0: the usual flags of the filter. `HS_FILTER_OPTIONAL`: a chunk that cannot be encoded is stored
    // without the filter. `HS_FILTER_MANDATORY`: it is an error.
    uint16_t flags;
    // The number of `values`.
    uint32_t value_count;
    // The parameters, as `H5Pset_filter` takes them ("client data").
    const uint32_t *values;
} hs_filter;

// A new dataset. Zeros are the defaults.
typedef struct {
    // `sizeof(hs_dataset_options)`
    size_t size;
    // The type of elements: `HS_I8` to `HS_STRING`, or `HS_MESSAGE`.
    int32_t type;
    // The number of dimensions. 0: one element.
    uint32_t rank;
    // For `HS_MESSAGE`: a datatype message of the file format (section IV.A.2.d).
    const void *type_message;
    // The bytes of `type_message`.
    size_t type_message_size;
    // The length of each dimension.
    const uint64_t *shape;
    // The maximum length of each dimension, or `HS_UNLIMITED`. NULL: `shape`.
    const uint64_t *max_shape;
    // The shape of chunks. NULL: chosen, where chunks are needed.
    const uint64_t *chunk;
    // The filters, in the order in which they encode.
    const hs_filter *filters;
    // The number of `filters`.
    size_t filter_count;
    // The value of elements that are not written: one element of `type`. NULL: zeros.
    const void *fill_value;
    // `HS_LAYOUT_DEFAULT`, `HS_LAYOUT_COMPACT`, `HS_LAYOUT_CONTIGUOUS` or `HS_LAYOUT_CHUNKED`.
    int32_t layout;
    // 1: the dataset keeps the order in which its attributes are created.
    uint32_t track_order;
    // Further filters in words, separated by spaces, such as `shuffle zstd:5`: those that
    // `hyperslab repack --help` lists. NULL: none.
    const char *filter_words;
} hs_dataset_options;

// A selection: along each dimension `count` blocks of `block` elements, `stride` apart, from `start` on.
typedef struct {
    // `sizeof(hs_selection)`
    size_t size;
    // The number of dimensions of the dataset.
    uint32_t rank;
    // The first element along each dimension.
    const uint64_t *start;
    // From one block to the next. NULL: 1 along each dimension.
    const uint64_t *stride;
    // The number of blocks along each dimension.
    const uint64_t *count;
    // The elements of a block. NULL: 1 along each dimension.
    const uint64_t *block;
} hs_selection;

// How a file is opened. Zeros are the defaults.
typedef struct {
    // `sizeof(hs_open_options)`
    size_t size;
    // The budget for decoded metadata. 0: 32 MiB.
    uint64_t metadata_cache_bytes;
    // The budget for decoded chunks. 0: 64 MiB.
    uint64_t chunk_cache_bytes;
    // The folder outside which no other file is followed (external links and data). NULL: anywhere.
    const char *confined_to;
    // The oldest libhdf5 that has to read a new file, by h5py's names: "earliest", "v108", "v110", "v112",
    // "v114", "v200", "latest". NULL: as the file is, or "v110".
    const char *version;
    // The bytes before the HDF5 part of a new file: 0, or a power of two from 512 on.
    uint64_t user_block;
    // 1: the file is not locked.
    uint32_t no_locking;
    // 1: the root group of a new file keeps the order in which its links are created.
    uint32_t track_order;
    // 1: the file is mapped into memory, for reading only. By setting this you promise that no program
    // changes the file, or cuts it, while it is open, nor the files that it names in external links and
    // virtual datasets, which are mapped too. If one does, the behaviour is undefined: elements may be
    // wrong, and the system ends this program when it uses bytes that were cut (SIGBUS). A program may
    // append to the file.
    uint32_t mapped;
    // 0. No room is left at the end of a struct, whose bytes a program need not have set.
    uint32_t reserved;
} hs_open_options;

// An object.
typedef struct {
    // `sizeof(hs_object_info)`
    size_t size;
    // `HS_GROUP`, `HS_DATASET` or `HS_DATATYPE`.
    int32_t kind;
    // The number of hard links to the object.
    uint32_t hard_links;
    // The address of the object's header, which identifies it within its file.
    uint64_t address;
    // The number of links in a group.
    uint64_t links;
    // The number of attributes.
    uint64_t attributes;
    // `HS_ORDER_LINKS` if the group keeps the order in which links are created, `HS_ORDER_ATTRIBUTES` if the
    // object keeps that of attributes; both added, or 0.
    uint64_t orders;
} hs_object_info;

// A link.
typedef struct {
    // `sizeof(hs_link_info)`
    size_t size;
    // `HS_LINK_HARD`, `HS_LINK_SOFT`, `HS_LINK_EXTERNAL`, or the number of another kind.
    int32_t kind;
    // 1: the group keeps the order in which links are created, and `order` has it.
    int32_t has_order;
    // The position in the order of creation.
    uint64_t order;
    // The address of the object of a hard link, else `HS_NO_ADDRESS`.
    uint64_t address;
} hs_link_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the names of the attributes of the object at `path`: in the order of creation if the object keeps
// it, else sorted.
int32_t hs_attribute_names(hs_file *file, const char *path, hs_items *names);

// Describes the array of an attribute.
int32_t hs_attribute_info(hs_file *file, const char *path, const char *name, hs_array_info *info);

// Reads all elements of an attribute into `out`, in the type `type`.
int32_t hs_attribute_read(hs_file *file,
                          const char *path,
                          const char *name,
                          int32_t type,
                          void *out,
                          const hs_io_options *options);

// Reads all texts or sequences of an attribute. `type` is the type of the elements of sequences; `HS_STRING`
// for texts.
int32_t hs_attribute_read_items(hs_file *file, const char *path, const char *name, int32_t type, hs_items *items);

// Creates an attribute, or replaces it. `rank` 0: one element, without dimensions. The attribute has the
// type `type`, of which `data` has all elements.
int32_t hs_attribute_write(hs_file *file,
                           const char *path,
                           const char *name,
                           int32_t type,
                           uint32_t rank,
                           const uint64_t *shape,
                           const void *data,
                           const hs_io_options *options);

// Creates an attribute of texts (`HS_STRING`) or of sequences of elements of `type`, or replaces it. Item
// `i` is the `lengths[i]` bytes at `items[i]`; with NULL for `lengths`, the text at `items[i]`. There are as
// many items as `shape` has elements.
int32_t hs_attribute_write_items(hs_file *file,
                                 const char *path,
                                 const char *name,
                                 int32_t type,
                                 uint32_t rank,
                                 const uint64_t *shape,
                                 const void *const *items,
                                 const uint64_t *lengths,
                                 size_t count);

// Removes an attribute.
int32_t hs_attribute_delete(hs_file *file, const char *path, const char *name);

// Describes the chunk whose first element is `first`. `bytes` may be NULL; else it gets the
// stored bytes as one item, or no item if the chunk was never written.
int32_t hs_chunk_read(hs_dataset *dataset, uint32_t rank, const uint64_t *first, hs_chunk_info *info, hs_items *bytes);

// Stores a chunk that is encoded already. `first` is its first element. Bit `i` of `mask` is set if filter
// `i` was not applied.
int32_t hs_chunk_write(hs_dataset *dataset,
                       uint32_t rank,
                       const uint64_t *first,
                       uint32_t mask,
                       const void *bytes,
                       size_t size);

// Opens the dataset at `path`.
int32_t hs_dataset_open(hs_file *file, const char *path, hs_dataset **dataset);

// Creates a dataset at `path`, and missing groups on the way, and opens it. `dataset` may be NULL.
int32_t hs_dataset_create(hs_file *file, const char *path, const hs_dataset_options *options, hs_dataset **dataset);

// Closes the handle of a dataset.
int32_t hs_dataset_close(hs_dataset *dataset);

// Describes the array of a dataset.
int32_t hs_dataset_info(hs_dataset *dataset, hs_array_info *info);

// Returns the datatype message of a dataset, as one item.
int32_t hs_type(hs_dataset *dataset, hs_items *message);

// Returns the filters of a dataset. Item `i` is an array of `uint32_t`: the number of filter `i`, its flags
// as they are stored, and its parameters.
int32_t hs_filters(hs_dataset *dataset, hs_items *filters);

// Reads the value of elements that were never written into `out`, in the type `type`.
int32_t hs_fill_value(hs_dataset *dataset, int32_t type, void *out, const hs_io_options *options);

// Changes the shape of a dataset in chunks, up to its maximum shape. New elements have the fill value.
int32_t hs_resize(hs_dataset *dataset, uint32_t rank, const uint64_t *shape);

// Reads the elements of `selection` into `out`, in row-major order, in the type `type`. With NULL for
// `selection`, all elements. After an error, `out` has unspecified values.
int32_t hs_read(hs_dataset *dataset,
                const hs_selection *selection,
                int32_t type,
                void *out,
                const hs_io_options *options);

// Writes `data`, the elements of `selection` in row-major order, in the type `type`. With NULL for
// `selection`, all elements. Numbers that the type in the file cannot hold become the nearest that it can.
int32_t hs_write(hs_dataset *dataset,
                 const hs_selection *selection,
                 int32_t type,
                 const void *data,
                 const hs_io_options *options);

// Reads the texts (of variable or fixed length) or sequences of `selection`. `type` is the type of the
// elements of sequences; `HS_STRING` for texts. With NULL for `selection`, all elements.
int32_t hs_read_items(hs_dataset *dataset, const hs_selection *selection, int32_t type, hs_items *items);

// Writes texts (`HS_STRING`) or sequences of elements of `type` to the elements of `selection`. Item `i` is
// the `lengths[i]` bytes at `items[i]`; with NULL for `lengths`, the text at `items[i]`.
int32_t hs_write_items(hs_dataset *dataset,
                       const hs_selection *selection,
                       int32_t type,
                       const void *const *items,
                       const uint64_t *lengths,
                       size_t count);

// Opens or creates the file at `path`. `mode` is `HS_READ`, `HS_WRITE`, `HS_CREATE`, `HS_CREATE_NEW` or
// `HS_APPEND`. Every opening is closed for itself, by `hs_close`.
int32_t hs_open(const char *path, int32_t mode, hs_file **file);

// Does the same as `hs_open`, with options. NULL: the defaults.
int32_t hs_open_with(const char *path, int32_t mode, const hs_open_options *options, hs_file **file);

// Opens a copy of the bytes of a file, for reading.
int32_t hs_open_bytes(const void *bytes, size_t size, hs_file **file);

// Writes all changes to the file.
int32_t hs_flush(hs_file *file);

// Writes all changes and closes the file. The handle is closed also after an error. Reads and writes of
// datasets that are open give errors from then on; the datasets have to be closed, too.
int32_t hs_close(hs_file *file);

// Returns the version of the library: "0.1.0".
const char *hs_version(void);

// Returns the message of the last call that failed on this thread; "" if none did. It is valid until the
// next call on this thread fails.
const char *hs_error(void);

// Returns the number of threads that a read or write uses, the caller's included.
uint32_t hs_threads(void);

// Sets the number of threads that a read or write uses, the caller's included. It is `HYPERSLAB_THREADS` of
// the environment before, or the number of processors.
int32_t hs_set_threads(uint32_t threads);

// Returns the texts or sequences inside other elements: members of compounds, sequences of sequences.
// `stored` are elements that were read as `HS_STORED` or `HS_NATIVE`, `pitch` bytes apart; the text or
// sequence is `offset` bytes into each. `element_size` is the bytes of an element of the sequences, 0 for
// texts. No other thread changes the elements in the file between the two reads.
int32_t hs_resolve(hs_file *file,
                   const void *stored,
                   size_t stored_size,
                   size_t pitch,
                   size_t offset,
                   size_t element_size,
                   hs_items *items);

// Releases the memory of items and sets them to zeros. Items that are zeros have none.
int32_t hs_free(hs_items *items);

// Returns the names of the links in a group: in the order of creation if the group keeps it, else sorted.
int32_t hs_names(hs_file *file, const char *group, hs_items *names);

// Describes the object at `path`.
int32_t hs_object(hs_file *file, const char *path, hs_object_info *info);

// Describes the link at `path` itself, which may lead nowhere. `targets` may be NULL; else it
// gets the path of a soft link, the path and the name of the file of an external one, and nothing of others.
int32_t hs_link(hs_file *file, const char *path, hs_link_info *info, hs_items *targets);

// Returns the path of the object with this address, which is that of an object reference.
int32_t hs_path_at(hs_file *file, uint64_t address, hs_items *path);

// Creates a group, and missing groups on the way.
int32_t hs_group_create(hs_file *file, const char *path);

// Creates a link at `path` to the path `target`: of an object in this file (`HS_LINK_HARD`), or of one that
// need not exist in this file (`HS_LINK_SOFT`) or in the file named `target_file` (`HS_LINK_EXTERNAL`). For
// other kinds than the last, `target_file` is NULL.
int32_t hs_link_create(hs_file *file, const char *path, int32_t kind, const char *target, const char *target_file);

// Removes the link at `path`. An object without further hard links is deleted, and its space is freed.
int32_t hs_delete(hs_file *file, const char *path);

// Returns a datatype message, as one item: of an attribute, or with NULL for `attribute`, of the dataset or
// committed datatype at `path`.
int32_t hs_type_at(hs_file *file, const char *path, const char *attribute, hs_items *message);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HYPERSLAB_H */
