//! A builder of ONNX graphs.

use super::proto::{self, Size};

/// The name of the first dimension of inputs and outputs, which is dynamic.
const BATCH: &str = "batch";

/// A value of a [`Graph`]: an input, a constant, or an output of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value(String);

/// A named setting of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Attribute {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// A text.
    Text(&'static str),
}

/// The nodes and constants of an ONNX graph, in the order in which they are computed.
///
/// Operators are those of operator set 20, by their names; `onnx.checker` finds wrong ones.
#[derive(Debug, Default)]
pub struct Graph {
    graph: proto::Graph,
}

impl Graph {
    /// Adds an input of the graph, `[batch, width]`.
    pub(super) fn input(&mut self, name: &str, width: usize, about: &str) -> Value {
        self.graph.input.push(value_info(name, &[width], about));
        Value(name.to_owned())
    }

    /// Makes a value an output of the graph, `[batch, ...shape]`.
    pub(super) fn output(&mut self, name: &str, value: &Value, shape: &[usize], about: &str) {
        self.push("Identity", &[value], &[], vec![name.to_owned()]);
        self.graph.output.push(value_info(name, shape, about));
    }

    /// Returns the finished graph.
    pub(super) fn finish(mut self, name: &str) -> proto::Graph {
        name.clone_into(&mut self.graph.name);
        self.graph
    }

    /// Adds a node with one output and without attributes.
    pub fn op(&mut self, operator: &str, inputs: &[&Value]) -> Value {
        self.op_with(operator, inputs, &[])
    }

    /// Adds a node with one output.
    pub fn op_with(&mut self, operator: &str, inputs: &[&Value], attributes: &[(&str, Attribute)]) -> Value {
        let [output] = self.op_with_outputs(operator, inputs, attributes);
        output
    }

    /// Adds a node with `N` outputs.
    pub fn op_with_outputs<const N: usize>(
        &mut self,
        operator: &str,
        inputs: &[&Value],
        attributes: &[(&str, Attribute)],
    ) -> [Value; N] {
        let number = self.graph.node.len();
        let name = |output: usize| match output {
            0 => format!("{}_{number}", operator.to_lowercase()),
            _ => format!("{}_{number}_{output}", operator.to_lowercase()),
        };
        let outputs: [String; N] = std::array::from_fn(name);
        self.push(operator, inputs, attributes, outputs.to_vec());
        outputs.map(Value)
    }

    fn push(
        &mut self,
        operator: &str,
        inputs: &[&Value],
        attributes: &[(&str, Attribute)],
        output: Vec<String>,
    ) {
        let attribute = |(name, value): &(&str, Attribute)| {
            let empty = proto::Attribute { name: (*name).to_owned(), ..proto::Attribute::default() };
            match *value {
                Attribute::Float(f) => proto::Attribute { f: Some(f), r#type: 1, ..empty },
                Attribute::Int(i) => proto::Attribute { i: Some(i), r#type: 2, ..empty },
                Attribute::Text(s) => proto::Attribute { s: Some(s.into()), r#type: 3, ..empty },
            }
        };
        self.graph.node.push(proto::Node {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            name: output[0].clone(),
            output,
            op_type: operator.to_owned(),
            attribute: attributes.iter().map(attribute).collect(),
        });
    }

    /// Adds a constant of single precision in row-major order.
    ///
    /// # Panics
    /// If the number of values does not match the shape.
    pub fn floats(&mut self, shape: &[usize], values: &[f32]) -> Value {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "the values match the shape");
        self.constant(shape, proto::FLOAT, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Adds a constant of single precision without dimensions.
    pub fn number(&mut self, value: f64) -> Value {
        self.floats(&[], &[value as f32])
    }

    /// Adds a list of integers, such as a shape or axes.
    pub fn integers(&mut self, values: &[i64]) -> Value {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(&[values.len()], proto::INT64, bytes)
    }

    /// Returns the constant with these contents. Equal constants are stored once, so that a network
    /// that is applied twice has one copy of its weights.
    fn constant(&mut self, shape: &[usize], data_type: i32, raw_data: Vec<u8>) -> Value {
        let dims: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
        let is_equal = |known: &&proto::Tensor| {
            known.data_type == data_type && known.dims == dims && known.raw_data == raw_data
        };
        if let Some(known) = self.graph.initializer.iter().find(is_equal) {
            return Value(known.name.clone());
        }
        let name = format!("constant_{}", self.graph.initializer.len());
        self.graph.initializer.push(proto::Tensor { dims, data_type, name: name.clone(), raw_data });
        Value(name)
    }
}

/// Describes single-precision values `[batch, ...shape]`.
fn value_info(name: &str, shape: &[usize], about: &str) -> proto::ValueInfo {
    let batch = Size::DimParam(BATCH.to_owned());
    let sizes = std::iter::once(batch).chain(shape.iter().map(|&size| Size::DimValue(size as i64)));
    let dim = sizes.map(|size| proto::Dimension { value: Some(size) }).collect();
    let tensor = proto::TensorType { elem_type: proto::FLOAT, shape: Some(proto::Shape { dim }) };
    proto::ValueInfo {
        name: name.to_owned(),
        r#type: Some(proto::Type { tensor_type: Some(tensor) }),
        doc_string: about.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_are_stored_once() {
        let mut graph = Graph::default();
        let first = graph.floats(&[2, 1], &[1.0, 2.0]);
        assert_eq!(graph.floats(&[2, 1], &[1.0, 2.0]), first);
        // The same bytes with another shape or type are another constant.
        assert_ne!(graph.floats(&[1, 2], &[1.0, 2.0]), first);
        let zeros = (graph.integers(&[0]), graph.floats(&[2], &[0.0, 0.0]));
        assert_ne!(zeros.0, zeros.1);
        assert_eq!(graph.finish("test").initializer.len(), 4);
    }

    #[test]
    fn outputs_of_nodes_have_unique_names() {
        let mut graph = Graph::default();
        let x = graph.input("x", 3, "");
        let [a, b] = graph.op_with_outputs("TopK", &[&x], &[("largest", Attribute::Int(0))]);
        let c = graph.op("Relu", &[&a]);
        graph.output("y", &c, &[3], "");
        assert!(a != b && b != c && a != c);
        let graph = graph.finish("test");
        let names: Vec<&String> = graph.node.iter().flat_map(|node| &node.output).collect();
        assert_eq!(names, ["topk_0", "topk_0_1", "relu_1", "y"]);
        assert_eq!(graph.node[0].attribute[0].i, Some(0));
    }
}
