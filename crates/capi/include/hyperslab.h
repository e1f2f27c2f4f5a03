/* hyperslab: HDF5 files without libhdf5, from C and C++.
 *
 * Every function that can fail returns HS_OK (0) or one of HS_ERROR_*; hs_error() then has the message.
 * Functions may be called by several threads at once, also with the same handle.
 * Text that comes in is UTF-8 that ends with a zero byte. A path begins at the file's root group: "/a/b", "a/b", "/".
 * A struct whose first field is `size` has `sizeof` of itself there, and zeros in all fields that are not used:
 *     hs_dataset_options options = {.size = sizeof options, .type = HS_F32};
 * Memory that comes out is in a `hs_items`, which hs_free() releases.
 */
#ifndef HYPERSLAB_H
#define HYPERSLAB_H

#include <stddef.h>
#include <stdint.h>

/* ---- codes that functions return ---- */
#define HS_OK 0
#define HS_ERROR_ARGUMENT 1     /* an argument of the call: null, an unknown code, not UTF-8, a struct's size */
#define HS_ERROR_HANDLE 2       /* a handle that is null, was closed, or is of another kind */
#define HS_ERROR_REQUEST 3      /* the request cannot be fulfilled: a selection outside, no conversion, a read-only file */
#define HS_ERROR_NOT_FOUND 4    /* no such file, object, link or attribute */
#define HS_ERROR_EXISTS 5       /* the name exists already */
#define HS_ERROR_FORMAT 6       /* the file is damaged, or is not an HDF5 file */
#define HS_ERROR_CHUNK 7        /* a chunk cannot be decoded or encoded, or filters are invalid */
#define HS_ERROR_IO 8           /* the medium failed */
#define HS_ERROR_LOCKED 9       /* the file is open elsewhere in a way that excludes this opening */
#define HS_ERROR_UNSUPPORTED 10 /* valid HDF5 that hyperslab does not handle yet */
#define HS_ERROR_RECOVERY 11    /* an interrupted commit: the file needs recovery, or must be opened again */
#define HS_ERROR_INTERNAL 12    /* a defect of hyperslab */

/* ---- how a file is opened ---- */
#define HS_READ 0       /* an existing file, for reading */
#define HS_WRITE 1      /* an existing file, for reading and writing */
#define HS_CREATE 2     /* a new file; an existing one is replaced */
#define HS_CREATE_NEW 3 /* a new file; an existing one is an error */
#define HS_APPEND 4     /* for reading and writing; created if missing */

/* ---- types of elements in memory ---- */
#define HS_STORED 0  /* the bytes of the file, of the file's datatype */
#define HS_NATIVE 1  /* the file's datatype with numbers in this machine's byte order */
#define HS_I8 2
#define HS_I16 3
#define HS_I32 4
#define HS_I64 5
#define HS_U8 6
#define HS_U16 7
#define HS_U32 8
#define HS_U64 9
#define HS_F16 10
#define HS_F32 11
#define HS_F64 12
#define HS_BOOL 13    /* one byte, 0 or 1, stored as h5py stores it (an enumeration) */
#define HS_STRING 14  /* UTF-8 text of variable length */
#define HS_MESSAGE 15 /* the type that a datatype message describes: `type_message` of the options */

/* ---- facts ---- */
#define HS_GROUP 0
#define HS_DATASET 1
#define HS_DATATYPE 2

#define HS_LINK_HARD 0
#define HS_LINK_SOFT 1
#define HS_LINK_EXTERNAL 64

#define HS_SPACE_SCALAR 0
#define HS_SPACE_SIMPLE 1
#define HS_SPACE_NULL 2

#define HS_LAYOUT_DEFAULT 0 /* for hs_dataset_create: contiguous, or chunks where they are needed */
#define HS_LAYOUT_COMPACT 1
#define HS_LAYOUT_CONTIGUOUS 2
#define HS_LAYOUT_CHUNKED 3
#define HS_LAYOUT_VIRTUAL 4
#define HS_LAYOUT_EXTERNAL 5 /* contiguous, in other files */

#define HS_FILL_DEFAULT 0   /* zeros */
#define HS_FILL_UNDEFINED 1
#define HS_FILL_DEFINED 2

#define HS_MAX_RANK 32
#define HS_UNLIMITED UINT64_MAX
#define HS_NO_ADDRESS UINT64_MAX
#define HS_WANT_STORAGE 1 /* hs_array_info.wanted: count the stored bytes, which looks at every chunk */

/* Handles. They are numbers and not memory: a handle that was closed is found to be, and never dereferenced. */
typedef struct hs_file hs_file;
typedef struct hs_dataset hs_dataset;
typedef struct hs_memory hs_memory;

/* Items that the library hands out. Item i has the lengths[i] bytes from bytes + offsets[i] on.
 * Texts are followed by a zero byte that is not counted. Other items begin at multiples of 8 from `bytes`, which is
 * aligned to 8. */
typedef struct hs_items {
    size_t count;
    const uint64_t *offsets;
    const uint64_t *lengths;
    const uint8_t *bytes;
    hs_memory *owner;
} hs_items;

/* A selection: along each dimension `count` blocks of `block` elements, `stride` apart, from `start` on.
 * Where `stride` or `block` is NULL, they are 1. */
typedef struct hs_selection {
    size_t size;
    uint32_t rank;
    const uint64_t *start;
    const uint64_t *stride;
    const uint64_t *count;
    const uint64_t *block;
} hs_selection;

typedef struct hs_open_options {
    size_t size;
    uint64_t metadata_cache_bytes; /* 0: 32 MiB */
    uint64_t chunk_cache_bytes;    /* 0: 64 MiB */
    const char *confined_to;       /* external links and data are followed inside this folder only; NULL: anywhere */
    const char *version;           /* the lowest library version that new objects are for, as h5py names them ("earliest",
                                      "v108", "v110", "v112", "v114", "v200", "latest"); NULL: hyperslab's default */
    uint64_t user_block;           /* bytes before the HDF5 part of a new file */
    uint32_t no_locking;           /* 1: the file is not locked */
    uint32_t track_order;          /* 1: new groups keep the order of creation */
} hs_open_options;

typedef struct hs_io_options {
    size_t size;
    size_t buffer_size;         /* the size of the caller's memory, which is then checked; 0: it is trusted */
    const void *type_message;   /* for HS_MESSAGE: a datatype message of the file format (section IV.A.2.d) */
    size_t type_message_size;
    const uint64_t *strides;    /* hs_read: bytes from one element to the next along each dimension; NULL: no gaps */
    uint32_t threads;           /* 0: as many as hs_set_threads says */
} hs_io_options;

typedef struct hs_filter {
    uint16_t id;          /* the registered number: 1 deflate, 2 shuffle, 32015 Zstandard, ... */
    uint16_t flags;       /* 1: a chunk that the filter cannot encode is stored without it */
    uint32_t value_count;
    const uint32_t *values; /* the parameters ("client data") */
} hs_filter;

typedef struct hs_dataset_options {
    size_t size;
    int32_t type;               /* HS_I8 to HS_STRING, or HS_MESSAGE */
    uint32_t rank;              /* 0: a scalar */
    const void *type_message;
    size_t type_message_size;
    const uint64_t *shape;
    const uint64_t *max_shape;  /* NULL: as `shape`; HS_UNLIMITED for a dimension without limit */
    const uint64_t *chunk;      /* NULL: chosen, where chunks are needed */
    const hs_filter *filters;
    size_t filter_count;
    const void *fill_value;     /* one element of `type`; NULL: zeros */
    int32_t layout;             /* HS_LAYOUT_DEFAULT, _COMPACT, _CONTIGUOUS or _CHUNKED */
    uint32_t track_order;       /* 1: attributes keep the order of creation */
} hs_dataset_options;

typedef struct hs_object_info {
    size_t size;
    int32_t kind;        /* HS_GROUP, HS_DATASET, HS_DATATYPE */
    uint32_t hard_links;
    uint64_t address;    /* of the object's header: what identifies it in its file */
    uint64_t links;      /* of a group */
    uint64_t attributes;
} hs_object_info;

typedef struct hs_link_info {
    size_t size;
    int32_t kind;           /* HS_LINK_HARD, HS_LINK_SOFT, HS_LINK_EXTERNAL, or the number of a user-defined kind */
    int32_t has_order;      /* whether `order` is known */
    int64_t order;          /* the number of the link in the order of creation */
    uint64_t address;       /* of a hard link; else HS_NO_ADDRESS */
} hs_link_info;

/* Of a dataset or an attribute. */
typedef struct hs_array_info {
    size_t size;
    uint32_t wanted;        /* in: 0 or HS_WANT_STORAGE */
    uint32_t rank;
    int32_t space;          /* HS_SPACE_... */
    int32_t type;           /* the code of the same values, whatever the byte order in the file; HS_STORED if none has */
    int32_t type_class;     /* the class of the datatype in the file format: 0 integers, 1 floats, 3 strings, ... */
    int32_t layout;         /* HS_LAYOUT_...; of an attribute: HS_LAYOUT_COMPACT */
    int32_t fill;           /* HS_FILL_... */
    uint32_t filter_count;
    uint64_t element_size;  /* bytes of an element in the file */
    uint64_t elements;
    uint64_t address;       /* of the object's header */
    uint64_t storage_bytes; /* with HS_WANT_STORAGE */
    uint64_t shape[HS_MAX_RANK];
    uint64_t max_shape[HS_MAX_RANK]; /* HS_UNLIMITED for a dimension without limit */
    uint64_t chunk[HS_MAX_RANK];     /* of a chunked dataset; else zeros */
} hs_array_info;

typedef struct hs_chunk_info {
    size_t size;
    uint32_t is_stored; /* 0: the chunk was never written */
    uint32_t mask;      /* bit i: filter i was not applied */
    uint64_t address;
    uint64_t bytes;     /* stored */
} hs_chunk_info;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the library ---- */
const char *hs_version(void);
/* The message of the last call that failed on this thread; "" if none did. It is valid until the next call fails. */
const char *hs_error(void);
uint32_t hs_threads(void);
int32_t hs_set_threads(uint32_t threads);

/* ---- files ---- */
int32_t hs_open(const char *path, int32_t mode, hs_file **file);
int32_t hs_open_with(const char *path, int32_t mode, const hs_open_options *options, hs_file **file);
/* A file in memory, for reading. The bytes are copied. */
int32_t hs_open_bytes(const void *bytes, size_t size, hs_file **file);
int32_t hs_flush(hs_file *file);
/* Writes what is not written yet and closes the file. The handle is gone also after an error. */
int32_t hs_close(hs_file *file);

/* ---- objects ---- */
int32_t hs_names(hs_file *file, const char *group, hs_items *names);
int32_t hs_object(hs_file *file, const char *path, hs_object_info *info);
/* Of the link itself, which may lead nowhere. `targets` (may be NULL) gets the path of a soft link; the path and the file
 * of an external one; nothing of a hard one. */
int32_t hs_link(hs_file *file, const char *path, hs_link_info *info, hs_items *targets);
/* The path of the object with this address (of an object reference). */
int32_t hs_path_at(hs_file *file, uint64_t address, hs_items *path);
int32_t hs_group_create(hs_file *file, const char *path);
/* `target` is a path; `target_file` only for HS_LINK_EXTERNAL, else NULL. */
int32_t hs_link_create(hs_file *file, const char *path, int32_t kind, const char *target, const char *target_file);
int32_t hs_delete(hs_file *file, const char *path);
/* The datatype message of an attribute, or with NULL for `attribute` of the dataset or committed datatype at `path`. */
int32_t hs_type_at(hs_file *file, const char *path, const char *attribute, hs_items *message);

/* ---- attributes ---- */
int32_t hs_attribute_names(hs_file *file, const char *path, hs_items *names);
int32_t hs_attribute_info(hs_file *file, const char *path, const char *name, hs_array_info *info);
int32_t hs_attribute_read(hs_file *file, const char *path, const char *name, int32_t type, void *out,
                          const hs_io_options *options);
int32_t hs_attribute_read_items(hs_file *file, const char *path, const char *name, int32_t type, hs_items *items);
/* Creates or replaces the attribute. `rank` 0: a scalar. */
int32_t hs_attribute_write(hs_file *file, const char *path, const char *name, int32_t type, uint32_t rank,
                           const uint64_t *shape, const void *data, const hs_io_options *options);
int32_t hs_attribute_write_items(hs_file *file, const char *path, const char *name, int32_t type, uint32_t rank,
                                 const uint64_t *shape, const void *const *items, const uint64_t *lengths, size_t count);
int32_t hs_attribute_delete(hs_file *file, const char *path, const char *name);

/* ---- datasets ---- */
int32_t hs_dataset_open(hs_file *file, const char *path, hs_dataset **dataset);
int32_t hs_dataset_create(hs_file *file, const char *path, const hs_dataset_options *options, hs_dataset **dataset);
int32_t hs_dataset_close(hs_dataset *dataset);
int32_t hs_dataset_info(hs_dataset *dataset, hs_array_info *info);
int32_t hs_type(hs_dataset *dataset, hs_items *message);
/* Item i is an array of uint32_t: the number of filter i, its flags, its parameters. */
int32_t hs_filters(hs_dataset *dataset, hs_items *filters);
int32_t hs_fill_value(hs_dataset *dataset, int32_t type, void *out, const hs_io_options *options);
/* `selection` NULL: all elements. `options` NULL: the defaults. */
int32_t hs_read(hs_dataset *dataset, const hs_selection *selection, int32_t type, void *out,
                const hs_io_options *options);
int32_t hs_write(hs_dataset *dataset, const hs_selection *selection, int32_t type, const void *data,
                 const hs_io_options *options);
/* Strings (of variable or fixed length), or sequences. `type` is that of the elements of sequences; HS_STORED for text. */
int32_t hs_read_items(hs_dataset *dataset, const hs_selection *selection, int32_t type, hs_items *items);
/* `lengths` are in bytes; NULL for texts that end with a zero byte. */
int32_t hs_write_items(hs_dataset *dataset, const hs_selection *selection, int32_t type, const void *const *items,
                       const uint64_t *lengths, size_t count);
int32_t hs_resize(hs_dataset *dataset, uint32_t rank, const uint64_t *shape);
/* The chunk whose first element is `first`: where it is, and (unless `bytes` is NULL) its stored bytes as one item. */
int32_t hs_chunk_read(hs_dataset *dataset, uint32_t rank, const uint64_t *first, hs_chunk_info *info, hs_items *bytes);
int32_t hs_chunk_write(hs_dataset *dataset, uint32_t rank, const uint64_t *first, uint32_t mask, const void *bytes,
                       size_t size);

/* ---- memory ---- */
/* The data of texts or sequences inside other elements (members of compounds, sequences of sequences): `stored` are
 * elements read as HS_STORED or HS_NATIVE, of `pitch` bytes each, whose text or sequence begins `offset` bytes into the
 * element. `element_size`: bytes of an element of the sequences, 0 for text. */
int32_t hs_resolve(hs_file *file, const void *stored, size_t stored_size, size_t pitch, size_t offset,
                   size_t element_size, hs_items *items);
/* Releases the memory of `items`, and sets it to zeros. */
int32_t hs_free(hs_items *items);

#ifdef __cplusplus
}
#endif

#endif
