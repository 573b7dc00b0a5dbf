import { describe, expect, test, vi } from 'vitest'
import { components } from '@/server/definition/component'
import { ERRORS } from '@/server/errors'
import { originOf } from '@/server/http/origin'
import { withSharedErrors } from '@/server/openapi/shared-errors'
import type { Example, Schema } from '@/server/openapi/types'
import { OPERATIONS, openApiDocument } from '@/server/rest/openapi-document'
import { stepSchemaName } from '@/server/steps/openapi'
import { steps } from '@/server/steps/registry'
import { checkerOf, inlined, operationsOf } from './validate'

// Records each name that a schema gets, from the first one on.
vi.mock('@/server/definition/component', async (original) => {
  const module = await original<typeof import('@/server/definition/component')>()
  vi.spyOn(module.components, 'add')
  return module
})

const document = openApiDocument('http://localhost:3000')
const operations = operationsOf(document)
const text = JSON.stringify(document)

describe('the document', () => {
  test('has the structure of OpenAPI 3.1', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/)
    expect(document.servers).toEqual([{ url: 'http://localhost:3000', description: expect.any(String) }])
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map((tag) => tag.name)
    const schemes = Object.keys(document.components.securitySchemes)
    for (const requirement of document.security)
      expect(schemes).toEqual(expect.arrayContaining(Object.keys(requirement)))
    for (const { path, method, operation } of operations) {
      const name = `${method} ${path}`
      expect(operation.summary.length, name).toBeGreaterThan(3)
      expect(operation.description.length, name).toBeGreaterThan(10)
      expect(
        operation.tags.every((tag) => tags.includes(tag)),
        name,
      ).toBe(true)
      const declared = operation.parameters.flatMap((it) => ('in' in it && it.in === 'path' ? [it.name] : []))
      expect(declared, name).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      for (const it of operation.parameters) if ('in' in it) expect(it.description, `${name} ${it.name}`).not.toBe('')
      expect(
        Object.keys(operation.responses).some((status) => /^2/.test(status)),
        name,
      ).toBe(true)
      for (const response of Object.values(operation.responses)) expect(response.description, name).not.toBe('')
      if (method === 'GET') expect(operation.requestBody, name).toBeUndefined()
    }
  })

  test('has no dangling references', () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(references.length).toBeGreaterThan(100)
    for (const reference of new Set(references)) {
      expect(reference).toMatch(/^#\//)
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document)
      expect(target, reference).toBeDefined()
    }
  })

  test('has no unused components', () => {
    const { securitySchemes: _named, ...components } = withSharedErrors(document).components
    const served = JSON.stringify(withSharedErrors(document))
    const paths = Object.entries(components).flatMap(([kind, named]) =>
      Object.keys(named ?? {}).map((name) => `#/components/${kind}/${name}`),
    )
    expect(paths.length).toBeGreaterThan(200)
    expect(paths.filter((path) => !served.includes(`"$ref":"${path}"`))).toEqual([])
  })

  test('says whom to ask: the reference of the service itself', () => {
    expect(document.info.contact.url).toBe(`${document.servers[0]?.url}/reference`)
  })

  test('has a schema for each step type, and a text for each field that a caller sends', () => {
    const { schemas } = document.components
    for (const type of Object.keys(steps)) expect(schemas, type).toHaveProperty(stepSchemaName(type))
    const sent = OPERATIONS.flatMap(({ id }) => {
      const body = operations.find(({ operation }) => operation.operationId === id)?.operation.requestBody
      const reference = body?.content['application/json']?.schema.$ref
      return reference ? [reference.split('/').at(-1) ?? ''] : []
    })
    for (const name of [...sent, 'Field', 'Step', 'Edge', 'ModelConfig']) {
      for (const [field, schema] of fieldsOf(schemas[name] ?? {})) {
        expect(schema.description, `${name}.${field}`).toBeTruthy()
      }
    }
  })

  test('gives no two schemas the same name', () => {
    const named = vi.mocked(components.add).mock.calls.map(([, { id }]) => id)
    expect(named.length).toBeGreaterThan(150)
    expect(named.filter((name, at) => named.indexOf(name) !== at)).toEqual([])
  })

  test('leaves every object open, so that fields can be added', () => {
    expect(text.includes('"additionalProperties":false')).toBe(false)
  })

  test('names the items of every list of objects, and items that share a name are the same', () => {
    const unnamed: string[] = []
    const visit = (at: unknown, place: string) => {
      if (typeof at !== 'object' || at === null) return
      if ('items' in at && typeof at.items === 'object' && at.items && 'properties' in at.items) unnamed.push(place)
      for (const [key, value] of Object.entries(at)) visit(value, `${place}.${key}`)
    }
    visit(document.components.schemas, 'schemas')
    for (const { method, path, operation } of operations)
      for (const [status, { content = {} }] of Object.entries(operation.responses))
        for (const media of Object.values(content)) visit(media.schema, `${method} ${path} ${status}`)
    expect(unnamed).toEqual([])
  })

  test('as it is served, has each error response once, and nothing is lost by that', () => {
    const served = withSharedErrors(document)
    expect(inlined(served).paths).toEqual(document.paths)
    const responses = Object.values(served.components.responses ?? {}).map((response) => JSON.stringify(response))
    expect(new Set(responses).size).toBe(responses.length)
    const repeated = Object.values(served.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) => Object.entries(operation.responses))
      .filter(([status, response]) => Number(status) >= 400 && !('$ref' in response))
      .map(([status]) => status)
    // The health check answers in its own format.
    expect(repeated).toEqual(['503'])
  })

  test('contains every error code of the product, including those of unknown paths', () => {
    const elsewhere = /^(NOT_FOUND|METHOD_NOT_ALLOWED|HEADERS_TOO_LARGE)$/
    const missing = Object.keys(ERRORS).filter((code) => !text.includes(`"$ref":"#/components/examples/${code}"`))
    expect(missing.filter((code) => !elsewhere.test(code))).toEqual([])
  })

  test('every example is valid, even without undocumented fields', () => {
    let examples = 0
    for (const check of [checkerOf(document), checkerOf(document, { closed: true })]) {
      for (const { path, method, operation } of operations) {
        const at = ['paths', path, method.toLowerCase()]
        const places = [
          ...Object.entries(operation.requestBody?.content ?? {}).map(
            ([type, media]) => [[...at, 'requestBody', 'content', type], media] as const,
          ),
          ...Object.entries(operation.responses).flatMap(([status, response]) =>
            Object.entries(response.content ?? {}).map(
              ([type, media]) => [[...at, 'responses', status, 'content', type], media] as const,
            ),
          ),
        ]
        for (const [place, media] of places) {
          for (const [name, example] of Object.entries(media.examples ?? {})) {
            const { value } = '$ref' in example ? resolve(example.$ref) : example
            expect(check([...place, 'schema'], value), `${method} ${path} ${name}`).toEqual([])
            examples += 1
          }
        }
      }
    }
    expect(examples).toBeGreaterThan(400)
  })

  test('says where a body is bytes, and which header is needed for them', () => {
    const [send, ...others] = operations.filter(
      ({ operation }) => operation.requestBody?.content['application/octet-stream'],
    )
    expect([send?.operation.operationId, others]).toEqual(['sendUpload', []])
    expect(send?.operation.requestBody).toMatchObject({
      required: true,
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    })
    expect(send?.operation.parameters).toContainEqual({ $ref: '#/components/parameters/X-Upload-Token' })
  })

  test('an invalid body is also invalid according to the document', () => {
    const check = checkerOf(document)
    const body = (name: string, value: unknown) => check(['components', 'schemas', name], value)
    expect(body('ResumeRun', { type: 'collect_inputs', data: { a: 1 } })).toEqual([])
    expect(body('ResumeRun', { type: 'something' })).not.toEqual([])
    expect(body('CreateWorkflow', {})).not.toEqual([])
    expect(body('CreateWorkflow', { name: 'x', payload: { a: { type: 'text' } } })).not.toEqual([])
    expect(body('InvokeTool', { args: [] })).not.toEqual([])
    expect(body('Run', {})).not.toEqual([])
  })
})

function fieldsOf(schema: Schema): [string, Schema][] {
  const choices = (schema.oneOf ?? [schema]).map(
    (it) => document.components.schemas[it.$ref?.split('/').at(-1) ?? ''] ?? it,
  )
  return choices.flatMap((it) => Object.entries(it.properties ?? {}))
}

function resolve(reference: string): Example {
  const name = reference.split('/').at(-1) ?? ''
  const example = document.components.examples[name]
  if (!example) throw new Error(`There is no ${reference}.`)
  return example
}

describe('the address in the document', () => {
  test('is the one at which the reader reached the service, unless that is invalid', () => {
    const of = (headers: Record<string, string>) => originOf(new Headers(headers))
    expect(of({ host: 'millrace.example.com' })).toBe('http://millrace.example.com')
    expect(of({ host: '127.0.0.1:4000' })).toBe('http://127.0.0.1:4000')
    expect(of({ host: '[::1]:4000' })).toBe('http://[::1]:4000')
    for (const host of ['', 'a b', 'a/b', 'x"><script>', 'user@host', 'a:99999999']) {
      expect(of({ host }), host).toMatch(/^http:\/\/localhost:\d+$/)
    }
    expect(of({ host: 'a.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' })).toBe(
      'http://a.example',
    )
  })
})
