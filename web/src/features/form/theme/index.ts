import type { RegistryFieldsType, TemplatesType } from '@rjsf/utils'

import { ChoiceField } from './choice-field'
import { FieldTemplate } from './field-template'
import { LeafField } from './leaf-field'
import { ItemButtons, ItemTemplate, ListField, ListTemplate } from './list'
import { ObjectField } from './object-field'
import { ObjectTemplate } from './object-template'

const Nothing = () => null

/** All that the library asks for by name: it has no fields and templates beside these. */
export const fields: RegistryFieldsType = {
  AnyOfField: ChoiceField,
  OneOfField: ChoiceField,
  ArrayField: ListField,
  ObjectField,
  CyclicSchemaField: LeafField,
  BooleanField: LeafField,
  FallbackField: LeafField,
  NullField: LeafField,
  NumberField: LeafField,
  StringField: LeafField,
}

export const templates: Partial<TemplatesType> = {
  ArrayFieldItemButtonsTemplate: ItemButtons,
  ArrayFieldItemTemplate: ItemTemplate,
  ArrayFieldTemplate: ListTemplate,
  FieldTemplate,
  ObjectFieldTemplate: ObjectTemplate,
  // Hints and faults are drawn by the field as a whole.
  DescriptionFieldTemplate: Nothing,
  FieldErrorTemplate: Nothing,
  FieldHelpTemplate: Nothing,
  ErrorListTemplate: Nothing,
  // Every list that is drawn has items, and every schema a type.
  UnsupportedFieldTemplate: Nothing,
}
