//! Help of options that several commands have.

pub(crate) const JSON: &str = "Print one JSON object on standard output";
pub(crate) const QUIET: &str = "Show no progress";
pub(crate) const NO_EXACT: &str =
    "Sample the whole model even if it, or parts of it, can be summed exactly";
pub(crate) const NEW_MODEL: &str =
    "The new file; its extension chooses the format (.npz, .safetensors, .mat, .uai)";
pub(crate) const RUN_FOLDER: &str = "A folder that `lnz plan` or --run has made";
