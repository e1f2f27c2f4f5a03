//! The fields that the standards name, revisions 0 to 2.1. Bytes count from 1, as in the standards.

use crate::field::{Field, FieldKind, NamedField};

macro_rules! fields {
    ($($byte:literal $kind:ident $name:literal)*) => {
        &[$(NamedField { name: $name, at: Field::new($byte, FieldKind::$kind) }),*]
    };
}

/// The binary file header. Bytes are counted from its own first byte: 1 is byte 3201 of the file. Bytes
/// without a name are unassigned.
#[rustfmt::skip]
pub const BINARY_HEADER: &[NamedField] = fields! {
    1 I32 "job_id"                          5 I32 "line_number"                      9 I32 "reel_number"
    13 I16 "traces_per_ensemble"            15 I16 "auxiliary_traces_per_ensemble"
    17 U16 "sample_interval"                19 U16 "original_sample_interval"
    21 U16 "samples_per_trace"              23 U16 "original_samples_per_trace"
    25 I16 "sample_format"                  27 I16 "ensemble_fold"                   29 I16 "trace_sorting"
    31 I16 "vertical_sum"                   33 I16 "sweep_frequency_start"           35 I16 "sweep_frequency_end"
    37 I16 "sweep_length"                   39 I16 "sweep_type"                      41 I16 "sweep_channel"
    43 I16 "sweep_taper_start"              45 I16 "sweep_taper_end"                 47 I16 "taper_type"
    49 I16 "correlated_traces"              51 I16 "binary_gain_recovered"           53 I16 "amplitude_recovery"
    55 I16 "measurement_system"             57 I16 "impulse_polarity"                59 I16 "vibratory_polarity"
    61 I32 "extended_traces_per_ensemble"   65 I32 "extended_auxiliary_traces_per_ensemble"
    69 U32 "extended_samples_per_trace"     73 F64 "extended_sample_interval"
    81 F64 "extended_original_sample_interval"                                       89 U32 "extended_original_samples_per_trace"
    93 I32 "extended_ensemble_fold"         97 U32 "byte_order"
    301 U8 "revision_major"                 302 U8 "revision_minor"                  303 I16 "fixed_trace_length"
    305 I16 "extended_textual_headers"      307 I16 "additional_trace_headers"       309 I16 "survey_type"
    311 I16 "time_basis"                    313 U64 "trace_count"                    321 U64 "first_trace_offset"
    329 I32 "trailer_stanzas"
};

/// The trace header. Bytes 233 to 240 are unassigned up to revision 1, and a name since revision 2.
#[rustfmt::skip]
pub const TRACE_HEADER: &[NamedField] = fields! {
    1 I32 "trace_in_line"                   5 I32 "trace_in_file"                    9 I32 "field_record"
    13 I32 "trace_in_record"                17 I32 "source_point"                    21 I32 "ensemble"
    25 I32 "trace_in_ensemble"              29 I16 "trace_identification"            31 I16 "vertically_summed"
    33 I16 "horizontally_stacked"           35 I16 "data_use"                        37 I32 "offset"
    41 I32 "receiver_elevation"             45 I32 "source_elevation"                49 I32 "source_depth"
    53 I32 "receiver_datum_elevation"       57 I32 "source_datum_elevation"          61 I32 "source_water_depth"
    65 I32 "receiver_water_depth"           69 I16 "elevation_scalar"                71 I16 "coordinate_scalar"
    73 I32 "source_x"                       77 I32 "source_y"                        81 I32 "receiver_x"
    85 I32 "receiver_y"                     89 I16 "coordinate_units"                91 I16 "weathering_velocity"
    93 I16 "subweathering_velocity"         95 I16 "source_uphole_time"              97 I16 "receiver_uphole_time"
    99 I16 "source_static"                  101 I16 "receiver_static"                103 I16 "total_static"
    105 I16 "lag_a"                         107 I16 "lag_b"                          109 I16 "delay_recording_time"
    111 I16 "mute_start"                    113 I16 "mute_end"                       115 U16 "samples"
    117 U16 "sample_interval"               119 I16 "gain_type"                      121 I16 "gain_constant"
    123 I16 "initial_gain"                  125 I16 "correlated"                     127 I16 "sweep_frequency_start"
    129 I16 "sweep_frequency_end"           131 I16 "sweep_length"                   133 I16 "sweep_type"
    135 I16 "sweep_taper_start"             137 I16 "sweep_taper_end"                139 I16 "taper_type"
    141 I16 "alias_filter_frequency"        143 I16 "alias_filter_slope"             145 I16 "notch_filter_frequency"
    147 I16 "notch_filter_slope"            149 I16 "low_cut_frequency"              151 I16 "high_cut_frequency"
    153 I16 "low_cut_slope"                 155 I16 "high_cut_slope"                 157 I16 "year"
    159 I16 "day_of_year"                   161 I16 "hour"                           163 I16 "minute"
    165 I16 "second"                        167 I16 "time_basis"                     169 I16 "weighting_factor"
    171 I16 "geophone_group_roll_switch"    173 I16 "geophone_group_first_trace"     175 I16 "geophone_group_last_trace"
    177 I16 "gap_size"                      179 I16 "over_travel"                    181 I32 "cdp_x"
    185 I32 "cdp_y"                         189 I32 "inline"                         193 I32 "crossline"
    197 I32 "shotpoint"                     201 I16 "shotpoint_scalar"               203 I16 "value_unit"
    205 I32 "transduction_mantissa"         209 I16 "transduction_exponent"          211 I16 "transduction_unit"
    213 I16 "device"                        215 I16 "time_scalar"                    217 I16 "source_type"
    219 I16 "source_direction_vertical"     221 I16 "source_direction_crossline"     223 I16 "source_direction_inline"
    225 I32 "source_measurement_mantissa"   229 I16 "source_measurement_exponent"    231 I16 "source_measurement_unit"
    233 Text8 "header_name"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_sorted_and_inside_their_header() {
        for (fields, len) in [(BINARY_HEADER, 400), (TRACE_HEADER, 240)] {
            let mut end = 1;
            for field in fields {
                let byte = usize::from(field.at.byte);
                assert!(byte >= end, "{}", field.name);
                end = byte + field.at.kind.size();
            }
            assert!(end <= len + 1);
        }
        let end = |fields: &[NamedField]| fields.last().map(|f| usize::from(f.at.byte) + f.at.kind.size());
        assert_eq!(end(TRACE_HEADER), Some(241), "the last field must end with the trace header");
    }
}
