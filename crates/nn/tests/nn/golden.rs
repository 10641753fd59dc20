//! Comparison with the values and gradients of `tests/golden/make.py`.

use crate::numbers::{deviation, numbers};
use burn::tensor::{Device, Tensor, TensorData};
use isochrone_nn::{kernel::PairForm, op};
use serde_json::Value;

#[test]
fn pairs_match_the_numpy_script() {
    let golden: Value = serde_json::from_str(include_str!("../golden/pairs.json")).unwrap();
    let device = Device::flex().autodiff();
    for case in golden["cases"].as_array().unwrap() {
        let size = |name: &str| case[name].as_u64().unwrap() as usize;
        let floats = |name: &str| -> Vec<f32> {
            case[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
        };
        let (n, m, width) = (size("n"), size("m"), size("width"));
        let (form, mix) = match case.get("components") {
            Some(components) => {
                let components = components.as_u64().unwrap() as usize;
                let half = width / components / 2;
                (PairForm::MaxL2 { components, max_width: half, l2_width: half }, 0.0)
            }
            None => {
                let group_width = size("group_width");
                (
                    PairForm::Interval { groups: width / group_width, group_width },
                    case["alpha"].as_f64().unwrap(),
                )
            }
        };
        let leaf = |name: &str, shape: [usize; 2]| {
            Tensor::<2>::from_data(TensorData::new(floats(name), shape), &device).require_grad()
        };
        let (x, y) = (leaf("x", [n, width]), leaf("y", [m, width]));
        let mix = Tensor::<1>::from_data([mix as f32], &device).require_grad();
        let values = op::all_pairs(form, x.clone(), y.clone(), mix.clone());
        let name = &case["name"];
        assert!(deviation(&numbers(values.clone()), &floats("values")) < 1e-5, "{name}");
        let upstream = Tensor::<2>::from_data(TensorData::new(floats("upstream"), [n, m]), &device);
        let gradients = (values * upstream).sum().backward();
        assert!(deviation(&numbers(x.grad(&gradients).unwrap()), &floats("dx")) < 1e-4, "{name}");
        assert!(deviation(&numbers(y.grad(&gradients).unwrap()), &floats("dy")) < 1e-4, "{name}");
        let dmix = numbers(mix.grad(&gradients).unwrap())[0];
        let expected = case["dalpha"].as_f64().unwrap() as f32;
        assert!((dmix - expected).abs() < 1e-4 * expected.abs().max(1.0), "{name}: {dmix} {expected}");
    }
}
