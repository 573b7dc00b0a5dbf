import type { FormProblem } from '@/app/(auth)/api'

/** Moves errors of fields that are not on the screen to the whole form. */
export function asText({ text, fields, code }: FormProblem): FormProblem {
  return { fields: {}, text: text ?? Object.values(fields).join(' '), code }
}
