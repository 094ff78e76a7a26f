//! Tells the linker that Python's own functions are found when the package is loaded, where it has to be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
