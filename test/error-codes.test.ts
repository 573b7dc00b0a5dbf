import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { source } from './support/imports'

// Every error and every problem of a definition leads to the page about its code, so screens show codes with the
// components of one file.
const COMPONENTS = 'app/_ui/error-code.tsx'

const ERROR = /^(error|failure|refusal|problem)$/i
/** Attributes whose value is shown. */
const SHOWN = ['title', 'label', 'description']

type Node = { type: string; start: number; end: number } & Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function everyNode(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (isNode(value)) see(value)
  for (const part of Object.values(value)) everyNode(part, see)
}

/** Whether an expression is an error: `error`, `step.error`, `errorOf(…)`. */
function isError(node: unknown): boolean {
  if (!isNode(node)) return false
  if (node.type === 'Identifier') return ERROR.test(String(node.name))
  if (node.type === 'MemberExpression') return isError(node.property)
  if (node.type === 'CallExpression') return isNode(node.callee) && node.callee.name === 'errorOf'
  return ['ChainExpression', 'TSNonNullExpression'].includes(node.type) && isError(node.expression)
}

/** The possible results of an expression: the branches of a condition, and the parts of a text. */
function given(node: unknown): Node[] {
  if (!isNode(node)) return []
  if (node.type === 'ConditionalExpression') return [node.consequent, node.alternate].flatMap(given)
  if (node.type === 'LogicalExpression') return [node.left, node.right].flatMap(given)
  if (node.type === 'BinaryExpression' && node.operator === '+') return [node.left, node.right].flatMap(given)
  if (node.type === 'TemplateLiteral') return (node.expressions as unknown[]).flatMap(given)
  if (['ParenthesizedExpression', 'ChainExpression'].includes(node.type)) return given(node.expression)
  return [node]
}

/** Where a file shows an error's code as plain text. */
function plainCodes(text: string): string[] {
  const shown: Node[] = []
  /** Whether the file anywhere takes `code` out of an error. */
  let taken = false
  everyNode(parseAst(text, { lang: 'tsx' }), (node) => {
    if (node.type === 'VariableDeclarator' && isNode(node.id) && node.id.type === 'ObjectPattern') {
      const names = (node.id.properties as { key?: { name?: string } }[]).map(({ key }) => key?.name)
      if (names.includes('code') && isError(node.init)) taken = true
    }
    const values =
      node.type === 'JSXElement' || node.type === 'JSXFragment'
        ? (node.children as Node[])
        : node.type === 'JSXAttribute' && SHOWN.includes(String((node.name as { name?: unknown }).name))
          ? [node.value]
          : []
    for (const value of values) {
      if (isNode(value) && value.type === 'JSXExpressionContainer') shown.push(...given(value.expression))
    }
  })
  return shown
    .filter((node) =>
      node.type === 'MemberExpression'
        ? isNode(node.property) && node.property.name === 'code' && isError(node.object)
        : taken && node.type === 'Identifier' && node.name === 'code',
    )
    .map(({ start, end }) => `line ${text.slice(0, start).split('\n').length}: ${text.slice(start, end)}`)
}

test('codes of errors are found in text and in titles, and other uses of them are not', () => {
  const plain = `
    const { code } = errorOf(thrown)
    const a = <p>{code}</p>
    const b = <Alert title={failure.code} />
    const c = <>{step.error?.code}</>
    const d = <p>{done ? 'Done' : \`Failed: \${error.code}\`}</p>
    const e = <p>{failed && errorOf(error).code}</p>`
  expect(plainCodes(plain)).toEqual([
    'line 3: code',
    'line 4: failure.code',
    'line 5: step.error?.code',
    'line 6: error.code',
    'line 7: errorOf(error).code',
  ])
  const fine = `
    const a = <FailureCode code={error.code} />
    const b = <p>{error.code === 'CONFLICT' ? 'Somebody was faster' : error.message}</p>
    const c = <CopyButton text={error.code} />
    const d = <pre>{script.code}</pre>
    const e = ({ code }) => <code>{code}</code>`
  expect(plainCodes(fine)).toEqual([])
})

test('no screen shows the code of an error without a link to its page', () => {
  const screens = [...source].filter(([file]) => /^app\/.*\.tsx$/.test(file) && file !== COMPONENTS)
  expect(screens.length).toBeGreaterThan(200)
  expect(screens.flatMap(([file, text]) => plainCodes(text).map((place) => `${file}, ${place}`))).toEqual([])
})

test('the address of the page is written in one place', () => {
  const own = [...source].filter(([file, text]) => /^app\/.*\.tsx?$/.test(file) && text.includes('/errors/$'))
  expect(own.map(([file]) => file)).toEqual([COMPONENTS])
})
