"""How languages declare, scope and look up names, as tables over their grammars. A row `node.field` stands for the
child in a node's field, `node.` for a child without a field. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from repopilot.code.languages import family


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one language.

    Attributes:
        declares: where a name is declared.
        scopes: nodes that end the names declared in them.
        files: the outermost of the scopes, whose names other files can use.
        classes: the scopes whose names are members.
        receivers: rows of names that are looked up in a receiver, with the receiver's field.
        implicit: whether members are named without a receiver.
        late: whether a local name is known only after its declaration.
        spaces: rows of names that have a namespace of their own, with that namespace's name.
        structural: whether any object with the right members is accepted, whatever its type.
    """

    declares: frozenset[str]
    scopes: frozenset[str]
    files: frozenset[str]
    classes: frozenset[str]
    receivers: dict[str, str]
    implicit: bool = False
    late: bool = True
    spaces: tuple[tuple[str, str], ...] = ()
    structural: bool = False


PATTERNS = frozenset(
    "object_pattern. array_pattern. rest_pattern. assignment_pattern.left pair_pattern.value "
    "object_assignment_pattern.left "
    "init_declarator.declarator pointer_declarator.declarator function_declarator.declarator "
    "array_declarator.declarator "
    "parenthesized_declarator. reference_declarator. qualified_identifier.name expression_list. tuple_pattern. "
    "tuple_struct_pattern. struct_pattern. field_pattern.pattern field_pattern.name captured_pattern. match_pattern. "
    "or_pattern. mut_pattern. ref_pattern. reference_pattern. slice_pattern. destructor_name. "
    "template_function.name variable_name.".split()
)
"""Nodes between a name and what declares it."""
OWN_MEMBERS = frozenset(
    "variable_declarator.name enum_constant.name enum_member_declaration.name enum_body.name enum_assignment.name "
    "enum_case.name".split()
)
"""Members that can't be overridden."""
INNER = frozenset(
    "enhanced_for_statement.name function_expression.name class.name generator_function.name for_range_loop.declarator "
    "foreach_statement.left enum_body.name".split()
)
"""Declared names of a node that are visible only within the node."""
BLOCKS = frozenset("statement_block for_statement for_in_statement catch_clause switch_body".split())
"""Scopes that `var` of JavaScript ignores."""


def _rules(
    declares: str, scopes: str, files: str, classes: str, receivers: str, **more: bool | tuple[tuple[str, str], ...]
) -> Rules:
    pairs = dict(pair.split("=") for pair in receivers.split())
    everything = frozenset(f"{scopes} {files} {classes}".split())
    first = (frozenset(declares.split()), everything, frozenset(files.split()), frozenset(classes.split()), pairs)
    return Rules(*first, **more)  # type: ignore[arg-type]  # the fields have these types


_JS = _rules(
    "function_declaration.name generator_function_declaration.name class_declaration.name "
    "abstract_class_declaration.name "
    "interface_declaration.name type_alias_declaration.name enum_declaration.name internal_module.name module.name "
    "function_signature.name variable_declarator.name required_parameter.pattern optional_parameter.pattern "
    "formal_parameters. for_in_statement.left catch_clause.parameter arrow_function.parameter type_parameter.name "
    "function_expression.name generator_function.name class.name public_field_definition.name "
    "field_definition.property "
    "method_definition.name method_signature.name property_signature.name "
    "abstract_method_signature.name enum_body.name "
    "enum_assignment.name import_specifier.name import_specifier.alias import_clause. namespace_import.",
    "statement_block function_declaration function_expression arrow_function method_definition function_signature "
    "generator_function_declaration generator_function for_statement for_in_statement catch_clause switch_body "
    "class_static_block method_signature abstract_method_signature function_type "
    "type_alias_declaration class_declaration "
    "abstract_class_declaration class interface_declaration internal_module object",
    "program",
    "class_body interface_body enum_body object_type",
    "member_expression.property=object nested_identifier.property=object nested_type_identifier.name=module",
    late=False,
    structural=True,
)
_RULES = {
    "javascript": _JS,
    "typescript": _JS,
    "tsx": _JS,
    "go": _rules(
        "function_declaration.name method_declaration.name type_spec.name type_alias.name "
        "const_spec.name var_spec.name "
        "short_var_declaration.left range_clause.left parameter_declaration.name variadic_parameter_declaration.name "
        "type_parameter_declaration.name type_switch_statement.alias receive_statement.left field_declaration.name "
        "method_elem.name",
        "function_declaration method_declaration func_literal block if_statement for_statement type_switch_statement "
        "expression_switch_statement expression_case type_case default_case communication_case function_type",
        "source_file",
        "struct_type interface_type",
        "selector_expression.field=operand qualified_type.name=package",
    ),
    "rust": _rules(
        "function_item.name function_signature_item.name struct_item.name enum_item.name "
        "union_item.name trait_item.name "
        "type_item.name mod_item.name const_item.name static_item.name macro_definition.name let_declaration.pattern "
        "let_condition.pattern parameter.pattern closure_parameters. for_expression.pattern match_arm.pattern "
        "type_parameter.name field_declaration.name enum_variant.name associated_type.name",
        "function_item function_signature_item closure_expression block match_arm for_expression if_expression "
        "while_expression macro_definition",
        "source_file mod_item",
        "struct_item enum_item union_item impl_item trait_item enum_variant",
        "field_expression.field=value scoped_identifier.name=path scoped_type_identifier.name=path",
        spaces=(
            ("macro_invocation.macro", "macro"),
            ("macro_definition.name", "macro"),
            ("field_declaration.name", "field"),
        ),
    ),
    "java": _rules(
        "class_declaration.name interface_declaration.name enum_declaration.name record_declaration.name "
        "annotation_type_declaration.name method_declaration.name constructor_declaration.name "
        "compact_constructor_declaration.name variable_declarator.name formal_parameter.name inferred_parameters. "
        "lambda_expression.parameters catch_formal_parameter.name enhanced_for_statement.name resource.name "
        "enum_constant.name type_parameter. annotation_type_element_declaration.name instanceof_expression.name "
        "type_pattern. record_pattern_component.",
        "method_declaration constructor_declaration compact_constructor_declaration block "
        "constructor_body lambda_expression "
        "for_statement enhanced_for_statement try_with_resources_statement catch_clause switch_block_statement_group "
        "switch_rule static_initializer",
        "program",
        "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration",
        "method_invocation.name=object field_access.field=object method_reference.=0 scoped_type_identifier.=0 "
        "scoped_identifier.name=scope",
        implicit=True,
        spaces=(
            ("method_invocation.name", "call"),
            ("method_declaration.name", "call"),
            ("annotation_type_element_declaration.name", "call"),
            ("method_reference.", "call"),
        ),
    ),
    "csharp": _rules(
        "class_declaration.name struct_declaration.name interface_declaration.name enum_declaration.name "
        "record_declaration.name delegate_declaration.name method_declaration.name property_declaration.name "
        "constructor_declaration.name destructor_declaration.name local_function_statement.name parameter.name "
        "variable_declarator.name foreach_statement.left catch_declaration.name declaration_pattern.name "
        "enum_member_declaration.name type_parameter.name declaration_expression.name event_declaration.name "
        "implicit_parameter. lambda_expression.parameters",
        "method_declaration constructor_declaration local_function_statement block lambda_expression for_statement "
        "foreach_statement catch_clause using_statement switch_section accessor_declaration "
        "anonymous_method_expression",
        "compilation_unit namespace_declaration",
        "class_declaration struct_declaration interface_declaration record_declaration enum_declaration",
        "member_access_expression.name=expression qualified_name.name=qualifier member_binding_expression.name=none",
        implicit=True,
    ),
    "php": _rules(
        "function_definition.name class_declaration.name interface_declaration.name trait_declaration.name "
        "enum_declaration.name method_declaration.name const_element. enum_case.name property_element.name "
        "property_promotion_parameter.name simple_parameter.name assignment_expression.left "
        "static_variable_declaration.name",
        "function_definition method_declaration anonymous_function arrow_function",
        "program",
        "class_declaration interface_declaration trait_declaration enum_declaration",
        "member_access_expression.name=object member_call_expression.name=object scoped_call_expression.name=scope "
        "nullsafe_member_call_expression.name=object nullsafe_member_access_expression.name=object "
        "class_constant_access_expression.=0 scoped_property_access_expression.name=scope qualified_name.=prefix",
        spaces=(
            ("function_definition.name", "function"),
            ("function_call_expression.function", "function"),
            ("member_call_expression.name", "call"),
            ("nullsafe_member_call_expression.name", "call"),
            ("scoped_call_expression.name", "call"),
            ("method_declaration.name", "call"),
            ("variable_name.", "variable"),
            ("member_access_expression.name", "variable"),
            ("nullsafe_member_access_expression.name", "variable"),
        ),
        structural=True,
    ),
    "ruby": _rules(
        "class.name module.name",
        "method singleton_method block do_block",
        "program",
        "class module",
        "call.method=receiver scope_resolution.name=scope",
        structural=True,
    ),
}
_C = (
    "parameter_declaration.declarator optional_parameter_declaration.declarator declaration.declarator "
    "function_definition.declarator type_definition.declarator field_declaration.declarator for_range_loop.declarator "
    "struct_specifier.name enum_specifier.name union_specifier.name class_specifier.name "
    "enumerator.name preproc_def.name "
    "preproc_function_def.name namespace_definition.name alias_declaration.name type_parameter_declaration. "
    "preproc_params. variadic_parameter_declaration.declarator concept_definition.name",
    "function_definition compound_statement for_statement for_range_loop lambda_expression catch_clause parameter_list "
    "preproc_function_def template_declaration",
    "translation_unit namespace_definition linkage_specification",
    "struct_specifier union_specifier class_specifier",
    "field_expression.field=argument qualified_identifier.name=scope",
)
_RULES["c"] = _rules(*_C)
_RULES["cpp"] = _rules(*_C, implicit=True)


FAMILIES = frozenset(map(family, _RULES))
"""The families of the languages with rules."""


def rules_of(language: str) -> Rules | None:
    """The rules of a language, None where there are none."""
    return _RULES.get(language)
