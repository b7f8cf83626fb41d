//! Filters: what a caller asks of a field's value, typed by the declaration.
//!
//! Several terms all have to hold. A term on a field outside the grant is refused before any store
//! is touched, because which records answer would tell what the field holds.

use pdpp_wire::Code;
use pdpp_wire::manifest::{FieldType, RangeOperator, StreamDeclaration};

use crate::{Denial, FilterTerm, ReadPlan, Scalar};

/// Most terms in one filter.
const MAX_TERMS: usize = 32;
/// Longest operand, in bytes.
const MAX_OPERAND: usize = 4096;

/// One condition on one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    pub(crate) field: String,
    pub(crate) test: Test,
}

/// The condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The typed value equals the operand.
    Equals(Scalar),
    /// The record has no value of the declared type here.
    Missing,
    /// The typed value stands in this relation to the operand; a missing value never does.
    Range(RangeOperator, Scalar),
}

impl Predicate {
    /// The field.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The condition.
    pub fn test(&self) -> &Test {
        &self.test
    }
}

pub(crate) fn parse_filter(read: &ReadPlan, terms: &[FilterTerm]) -> Result<Vec<Predicate>, Denial> {
    if terms.len() > MAX_TERMS {
        return Err(Denial::invalid("filter", format!("At most {MAX_TERMS} filter terms are allowed.")));
    }
    terms.iter().map(|term| parse_term(read, term)).collect()
}

fn parse_term(read: &ReadPlan, term: &FilterTerm) -> Result<Predicate, Denial> {
    let declaration = read.declaration();
    check_field(read, &term.field, "filter")?;
    if term.operand.len() > MAX_OPERAND {
        return Err(Denial::invalid(
            "filter",
            format!("A filter operand may be at most {MAX_OPERAND} bytes."),
        ));
    }
    let test = match &term.operator {
        None => exact(declaration, term)?,
        Some(operator) => range(declaration, term, operator)?,
    };
    Ok(Predicate { field: term.field.clone(), test })
}

/// Refuses a field that is unknown, or not granted in every part of the plan.
pub(crate) fn check_field(read: &ReadPlan, field: &str, param: &str) -> Result<FieldType, Denial> {
    let Some(declared) = read.declaration().find_field(field) else {
        let message =
            format!("Field '{field}' is not declared by stream '{}'; check /v1/schema.", read.stream());
        return Err(Denial::new(Code::UnknownField, message).param(param));
    };
    if read.parts().iter().all(|part| part.granted().contains(field)) {
        return Ok(declared.field_type());
    }
    let message = format!("Field '{field}' of stream '{}' is outside the grant.", read.stream());
    Err(Denial::new(Code::FieldNotGranted, message).param(param))
}

fn exact(declaration: &StreamDeclaration, term: &FilterTerm) -> Result<Test, Denial> {
    let field_type = declaration.field_type(&term.field);
    if !field_type.is_scalar() {
        let message = format!("Field '{}' is not a single scalar type and cannot be filtered.", term.field);
        return Err(Denial::invalid("filter", message));
    }
    // For text, "null" is a word like any other.
    if term.operand == "null" && field_type != FieldType::Text {
        return Ok(Test::Missing);
    }
    operand(field_type, term).map(Test::Equals)
}

fn range(declaration: &StreamDeclaration, term: &FilterTerm, operator: &str) -> Result<Test, Denial> {
    let field = &term.field;
    let Some(operator) = RangeOperator::parse(operator) else {
        return Err(Denial::invalid(
            "filter",
            format!("'{operator}' is no operator; use gte, gt, lte or lt."),
        ));
    };
    if !declaration.range_operators(field).contains(&operator) {
        let message = format!(
            "Field '{field}' does not declare the range operator '{}'; check /v1/schema.",
            operator.as_str()
        );
        return Err(Denial::invalid("filter", message));
    }
    operand(declaration.field_type(field), term).map(|operand| Test::Range(operator, operand))
}

fn operand(field_type: FieldType, term: &FilterTerm) -> Result<Scalar, Denial> {
    Scalar::parse(field_type, &term.operand).ok_or_else(|| {
        let wanted = match field_type {
            FieldType::Boolean => "true or false",
            FieldType::Integer => "a whole number",
            FieldType::Number => "a number",
            FieldType::Instant => "a date or date-time",
            FieldType::Text | FieldType::Json => "text",
        };
        Denial::invalid("filter", format!("The operand for '{}' must be {wanted}.", term.field))
    })
}
