import { expect, test } from 'vitest'
import { inLanguage, LANGUAGE } from '@/server/definition/language'
import type { Definition } from '@/server/definition/schema'

test('a version saved before steps for people had assignees asks anybody, as it always did', () => {
  const plain = { id: 'ok', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }], expiresIn: 'P1D' }
  const other = { id: 'call', type: 'call-tool', toolId: 't', needs: { yes: 2 } }
  const more = { assignees: ['role:boss'], needs: { yes: 2 }, noSelfApproval: true, dueIn: 'P1D' }
  const definition = { steps: [{ ...plain, ...more }, other], edges: [] } as unknown as Definition
  expect(inLanguage(definition, 1).steps).toEqual([plain, other])
  expect(inLanguage(definition, LANGUAGE)).toBe(definition)
})

test('a version saved before actions had fields asks for the action alone', () => {
  const plain = [{ id: 'yes', label: 'Yes' }]
  const step = { id: 'ok', type: 'request-user-action', assignees: ['role:admin'] }
  const fields = { why: { type: 'string' } }
  const definition = {
    steps: [{ ...step, remark: 'required', actions: [{ ...plain[0], fields }] }],
    edges: [],
  } as unknown as Definition
  expect(inLanguage(definition, 3).steps).toEqual([{ ...step, actions: plain }])
  expect(inLanguage(definition, LANGUAGE)).toBe(definition)
})

test('a version saved before tasks had reminders reminds nobody', () => {
  const [form, decision] = [
    { id: 'ask', type: 'collect-inputs', dueIn: 'P1D' },
    { id: 'ok', type: 'request-user-action', remark: 'optional' },
  ]
  const steps = [form, decision].map((step) => ({ ...step, reminders: { after: 'P1D' } }))
  const definition = { steps, edges: [] } as unknown as Definition
  expect(inLanguage(definition, 4).steps).toEqual([form, decision])
  expect(inLanguage(definition, LANGUAGE)).toBe(definition)
})
