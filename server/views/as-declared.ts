import { inOrder, labelOf } from '../definition/declared'
import { isJsonObject } from '../definition/json'
import type { Fields } from '../definition/schema'
import type { Masker } from '../vault/mask'
import type { CutValue } from './value'

/** A value in the order in which its fields are declared. */
export function asDeclared(cut: CutValue, names: readonly string[]): CutValue {
  return 'value' in cut && isJsonObject(cut.value) ? { ...cut, value: inOrder(cut.value, names) } : cut
}

/** An answer, its form data in the order of the form. */
export function answerAsDeclared(cut: CutValue, form: Fields): CutValue {
  if (!('value' in cut) || !isJsonObject(cut.value) || !isJsonObject(cut.value.data)) return cut
  return { ...cut, value: { ...cut.value, data: inOrder(cut.value.data, Object.keys(form)) } }
}

/** The labels of the fields whose label differs from their name. */
export function labelsOf(fields: Fields, masker: Masker): Record<string, string> {
  const labels = Object.entries(fields).map(([name, field]) => [name, labelOf(name, field)] as const)
  const others = labels.filter(([name, label]) => label !== name)
  return Object.fromEntries(others.map(([name, label]) => [masker.text(name), masker.text(label)]))
}
