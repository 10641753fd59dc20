//! Decision processes that declare much.

use crate::support::{alone, refused};
use isochrone_data::tabular::read_mdp_json;

/// Every state would be visited, of which there are 2^64.
#[test]
fn processes_without_a_matrix_are_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    std::fs::write(&path, r#"{"states": 18446744073709551615, "csr": []}"#).unwrap();
    let error = refused(read_mdp_json(&path));
    assert!(error.contains("'csr' has no matrix"), "{error}");
}
