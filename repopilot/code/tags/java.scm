;; definitions
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @interface
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(compact_constructor_declaration name: (identifier) @name) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(enum_constant name: (identifier) @name) @field
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @field))
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @field
;; references
(method_invocation name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type (type_identifier) @call))
(method_reference (identifier) @call .)
(marker_annotation name: (identifier) @call)
(annotation name: (identifier) @call)
(superclass (type_identifier) @inherit)
(superclass (generic_type (type_identifier) @inherit))
(super_interfaces (type_list (type_identifier) @inherit))
(super_interfaces (type_list (generic_type (type_identifier) @inherit)))
(extends_interfaces (type_list (type_identifier) @inherit))
(extends_interfaces (type_list (generic_type (type_identifier) @inherit)))
(field_access field: (identifier) @member)
(type_identifier) @use
(identifier) @use
;; imports
(import_declaration) @import
(package_declaration) @package
