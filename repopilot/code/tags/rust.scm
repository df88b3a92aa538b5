;; definitions
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @struct
(trait_item name: (type_identifier) @name) @trait
(type_item name: (type_identifier) @name) @type
(mod_item name: (identifier) @name body: (_)) @module
(macro_definition name: (identifier) @name) @macro
(const_item name: (identifier) @name) @variable
(static_item name: (identifier) @name) @variable
(impl_item type: [(type_identifier) @name (generic_type type: (type_identifier) @name) (scoped_type_identifier name: (type_identifier) @name) (generic_type type: (scoped_type_identifier name: (type_identifier) @name))]) @impl
(field_declaration name: (field_identifier) @name) @field
(enum_variant name: (identifier) @name) @field
(associated_type name: (type_identifier) @name) @type
;; references
(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier name: (identifier) @call)))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @call)))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier name: (identifier) @call))
(struct_expression name: (type_identifier) @call)
(struct_expression name: (scoped_type_identifier name: (type_identifier) @call))
(impl_item trait: (type_identifier) @inherit)
(impl_item trait: (generic_type type: (type_identifier) @inherit))
(impl_item trait: (scoped_type_identifier name: (type_identifier) @inherit))
(trait_item bounds: (trait_bounds (type_identifier) @inherit))
(field_identifier) @member
(type_identifier) @use
(identifier) @use
;; imports
(use_declaration) @import
(mod_item !body) @import
