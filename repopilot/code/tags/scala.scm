;; definitions
(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @class
(trait_definition name: (identifier) @name) @trait
(enum_definition name: (identifier) @name) @enum
(function_definition name: (identifier) @name) @function
(function_declaration name: (identifier) @name) @function
(type_definition name: (type_identifier) @name) @type
(given_definition name: (identifier) @name) @variable
(template_body (val_definition pattern: (identifier) @name) @field)
(template_body (var_definition pattern: (identifier) @name) @field)
(compilation_unit (val_definition pattern: (identifier) @name) @variable)
(class_definition "case" class_parameters: (class_parameters (class_parameter name: (identifier) @name) @field))
(class_parameter ["val" "var"] name: (identifier) @name) @field
(template_body (val_declaration name: (identifier) @name) @field)
(template_body (var_declaration name: (identifier) @name) @field)
(simple_enum_case name: (identifier) @name) @field
(full_enum_case name: (identifier) @name) @field
;; references
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (field_expression field: (identifier) @call)))
(instance_expression (type_identifier) @call)
(instance_expression (generic_type type: (type_identifier) @call))
(infix_expression operator: (identifier) @call)
(annotation name: (type_identifier) @call)
(extends_clause (type_identifier) @inherit)
(extends_clause (generic_type type: (type_identifier) @inherit))
(field_expression field: (identifier) @member)
(type_identifier) @use
(identifier) @use
;; imports
(import_declaration) @import
(package_clause name: (_) @package)
