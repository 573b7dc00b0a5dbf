import { expect, test } from 'vitest'
import { newDefinition } from '@/server/workflows/definition'
import { CreateWorkflow } from '@/server/workflows/schema'

const saved = (step: object) => newDefinition(CreateWorkflow.parse({ name: 'n', steps: [step] })).steps[0]

test('a script is saved with any code, and a template with a reserved name is refused', () => {
  const script = { id: 'a', type: 'run-script', code: 'return `${args.x.constructor.name} ${constructor}`' }
  expect(saved(script)).toEqual(script)
  for (const reserved of [{ args: { code: '${x.constructor}' } }, { name: '${__proto__}' }])
    expect(() => saved({ ...script, ...reserved })).toThrow('Invalid input')
})
