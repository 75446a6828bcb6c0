//! Fields of every kind, made up.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::{
        Field, FieldOption, FieldTexts, FieldType, fields_to_schema, parse_fields, schema_to_fields, variants,
    },
    lines,
};
use crate::Schema;

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("[a-zA-Zäß ]{1,12}")
}

fn texts() -> impl Strategy<Value = BTreeMap<String, FieldTexts>> {
    let texts = (text(), text());
    let texts =
        texts.prop_map(|(label, description)| FieldTexts { label, description, ..FieldTexts::default() });
    proptest::collection::btree_map("(de|fr|de-AT)", texts, 0..3)
}

/// A field without name and without default; the latter is chosen to fit once the field is known.
fn bare(kind: FieldType) -> BoxedStrategy<Field> {
    let looks = variants(kind);
    let variant = proptest::option::of(0..looks.len());
    (text(), text(), variant, any::<bool>(), texts())
        .prop_map(move |(label, description, variant, required, i18n)| Field {
            label,
            description,
            required,
            i18n,
            variant: variant.map(|index| looks[index].to_owned()),
            ..Field::new("", kind)
        })
        .boxed()
}

fn option_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z]{1,5}".prop_map(Value::from),
        (-50..50_i64).prop_map(Value::from),
        (-50..50_i64).prop_map(|n| json!(n as f64 / 4.0)),
        any::<bool>().prop_map(Value::from),
    ]
}

fn choice() -> BoxedStrategy<Field> {
    let options = proptest::collection::vec((option_value(), text()), 1..6);
    (bare(FieldType::Enum), options)
        .prop_map(|(mut field, options)| {
            for (value, label) in options {
                let known = |other: &FieldOption| crate::canonical(&other.value) == crate::canonical(&value);
                if !field.options.iter().any(known) {
                    field.options.push(FieldOption { value, label });
                }
            }
            let labels: Vec<_> = field.options.iter().map(|option| option.label.clone()).collect();
            field.i18n.values_mut().for_each(|texts| texts.option_labels.clone_from(&labels));
            field
        })
        .boxed()
}

fn pointing(kind: FieldType) -> BoxedStrategy<Field> {
    let target = proptest::option::of("[a-z/*]{1,8}");
    (bare(kind), target).prop_map(|(field, target)| Field { target, ..field }).boxed()
}

fn leaf() -> impl Strategy<Value = Field> {
    use FieldType::{Boolean, Date, Email, Media, Number, Phone, Relation, Text, Url};
    let plain = proptest::sample::select(vec![Text, Number, Boolean, Date, Url, Email, Phone]);
    prop_oneof![
        3 => plain.prop_flat_map(bare),
        1 => choice(),
        1 => pointing(Media),
        1 => pointing(Relation),
        1 => bare(FieldType::Object),
    ]
}

fn field() -> impl Strategy<Value = Field> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        let items = (bare(FieldType::Array), inner.clone()).prop_map(|(mut field, items)| {
            field.items = Some(Box::new(Field { required: false, ..items }));
            field
        });
        let members = (bare(FieldType::Object), proptest::collection::vec(inner, 1..4));
        let members = members.prop_map(|(field, fields)| Field { fields: named(fields), ..field });
        prop_oneof![items, members]
    })
}

/// Gives every field of a list a name of its own, also such as need escaping.
fn named(fields: Vec<Field>) -> Vec<Field> {
    let signs = ["", "/", "~", " ", "é", "$ref"];
    let name = |index: usize| format!("{}f{index}", signs[index % signs.len()]);
    fields.into_iter().enumerate().map(|(index, field)| Field { name: name(index), ..field }).collect()
}

/// A value that the field takes.
fn example(field: &Field) -> Value {
    match (field.kind, field.variant.as_deref()) {
        (FieldType::Text | FieldType::Media | FieldType::Relation, _) => json!("text"),
        (FieldType::Number, _) => json!(7),
        (FieldType::Boolean, _) => json!(true),
        (FieldType::Date, Some("datetime")) => json!("2026-01-31T12:00:00Z"),
        (FieldType::Date, Some("time")) => json!("12:00:00Z"),
        (FieldType::Date, _) => json!("2026-01-31"),
        (FieldType::Enum, _) => field.options[0].value.clone(),
        (FieldType::Url, _) => json!("https://example.com/a"),
        (FieldType::Email, _) => json!("a@example.com"),
        (FieldType::Phone, _) => json!("+49 30 123456"),
        (FieldType::Object, _) => {
            field.fields.iter().map(|field| (field.name.clone(), example(field))).collect()
        }
        (FieldType::Array, _) => json!([field.items.as_deref().map(example)]),
    }
}

/// Gives every other field a default, from the inside out.
fn with_defaults(mut field: Field, count: &mut usize) -> Field {
    field.fields = field.fields.into_iter().map(|field| with_defaults(field, count)).collect();
    field.items = field.items.map(|items| Box::new(with_defaults(*items, count)));
    *count += 1;
    field.default = count.is_multiple_of(2).then(|| example(&field));
    field
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    proptest::collection::vec(field(), 0..6).prop_map(|fields| {
        let mut count = 0;
        named(fields).into_iter().map(|field| with_defaults(field, &mut count)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn fields_come_back_from_their_schema(fields in fields()) {
        let schema = fields_to_schema(&fields).map_err(|faults| TestCaseError::fail(lines(&faults)))?;
        let restored = schema_to_fields(&schema).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        prop_assert_eq!(&restored, &fields);
        // And from their own JSON, by both ways in.
        let json = serde_json::to_value(&fields).unwrap();
        prop_assert_eq!(&parse_fields(&json).map_err(|faults| TestCaseError::fail(lines(&faults)))?, &fields);
        prop_assert_eq!(&serde_json::from_value::<Vec<Field>>(json).unwrap(), &fields);
    }

    #[test]
    fn every_schema_compiles_and_takes_examples_and_its_own_defaults(fields in fields()) {
        let document = fields_to_schema(&fields).map_err(|faults| TestCaseError::fail(lines(&faults)))?;
        let schema = Schema::compile(&document).unwrap();
        let full: Value = fields.iter().map(|field| (field.name.clone(), example(field))).collect();
        prop_assert!(schema.is_valid(&full), "{}: {}", full, lines(&schema.faults(&full)));
        // Whatever has no default is filled in by hand, the rest by the schema.
        let mut sparse: Value = fields
            .iter()
            .filter(|field| field.default.is_none())
            .map(|field| (field.name.clone(), example(field)))
            .collect();
        schema.with_defaults(&mut sparse);
        prop_assert!(schema.is_valid(&sparse), "{}: {}", sparse, lines(&schema.faults(&sparse)));
    }
}
