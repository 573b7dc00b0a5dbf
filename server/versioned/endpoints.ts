import { z } from 'zod'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { ErrorCode } from '../errors'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { listAnswer } from '../openapi/list-answer'
import type { Answer, Example, Tag } from '../openapi/types'
import { versionedAnswer } from './answer'
import { ListVersions } from './list-schema'

/** The differences in the document between agents, tools and workflows. */
export interface VersionedApi {
  /** The noun in permissions: `agent:read`. */
  noun: 'workflow' | 'agent' | 'tool'
  /** For example `agent`, `an agent`, `agents`, and the word for the whole content: `agent`, `definition`. */
  words: { one: string; a: string; many: string; whole: string }
  tag: Tag
  path: string
  /** The path parameter with the id. */
  id: { name: string; description: string; example: string }
  schemas: {
    item: z.ZodType
    whole: z.ZodType
    versionItem: z.ZodType
    version: z.ZodType
    create: z.ZodType
    update: z.ZodType
    /** The query of the list. */
    list: z.ZodObject
  }
  examples: {
    item: JsonObject
    whole: JsonObject
    versionItem: JsonObject
    version: JsonObject
    create: Record<string, Example>
    update: JsonObject
  }
  descriptions: Record<'list' | 'create' | 'get' | 'update' | 'archive' | 'publish' | 'listVersions', string>
  errors: { notFound: ErrorCode; write: readonly ErrorCode[]; archive?: readonly ErrorCode[] }
}

interface Versioned {
  id: string
  version: number
}
type Page = Parameters<typeof listAnswer>[1]

/** The verbs behind the endpoints. */
export interface VersionedVerbs {
  list(ctx: ServiceContext, query: Record<string, string | undefined>): Promise<Page>
  create(ctx: ServiceContext, body: JsonObject): Promise<Versioned>
  get(ctx: ServiceContext, at: { id: string }): Promise<Versioned>
  update(ctx: ServiceContext, at: { id: string; body: JsonObject; ifMatch: string | null }): Promise<Versioned>
  archive(ctx: ServiceContext, at: { id: string }): Promise<Versioned>
  unarchive(ctx: ServiceContext, at: { id: string }): Promise<Versioned>
  publish(ctx: ServiceContext, at: { id: string; ifMatch: string | null }): Promise<Versioned>
  listVersions(ctx: ServiceContext, at: { id: string; page: Record<string, string | undefined> }): Promise<Page>
  getVersion(ctx: ServiceContext, at: { id: string; version: string }): Promise<Versioned>
}

/** The state of a draft that was never published. */
const DRAFT = { status: 'draft', version: 1, publishedVersion: null, publishedAt: null, hasUnpublishedChanges: true }

const VERSION = { description: 'A number, `latest` or `published`.', example: '1' }

/** Answers that contain the whole content. */
export function wholeAnswers({ words, schemas, examples }: VersionedApi) {
  const wholeAnswer = (description: string, changed: JsonObject = {}): Answer =>
    answer(
      description,
      schemas.whole,
      { [words.one]: example(`The ${words.whole}`, { ...examples.whole, ...changed }) },
      ['ETag'],
    )
  const created = (changed: JsonObject = {}): Answer => ({
    ...wholeAnswer('The new draft.', { ...DRAFT, ...changed }),
    headers: ['ETag', 'Location'],
  })
  return { wholeAnswer, created }
}

/** The endpoints that agents, tools and workflows share. */
export function versionedEndpoints(api: VersionedApi, verbs: VersionedVerbs) {
  const { noun, words, tag, path, schemas, examples, descriptions, errors } = api
  const { wholeAnswer, created } = wholeAnswers(api)
  const one = `${path}/{${api.id.name}}`
  const parameters = { [api.id.name]: api.id, version: VERSION }
  const whole = versionedAnswer(path)
  const idOf = (params: Record<string, string>) => params[api.id.name] ?? ''
  const ifMatchOf = (request: Request) => request.headers.get('if-match')
  const list = endpoint({
    method: 'GET',
    path,
    tag,
    summary: `List ${words.many}`,
    description: descriptions.list,
    permission: `${noun}:read`,
    query: schemas.list,
    answers: {
      200: answer(`The ${words.many}.`, z.array(schemas.item), { list: example(`One ${words.one}`, [examples.item]) }, [
        'X-Total-Count',
        'Link',
      ]),
    },
    errors: [],
    run: async ({ ctx, query, request }) => listAnswer(request, await verbs.list(ctx, query)),
  })
  const create = endpoint({
    method: 'POST',
    path,
    tag,
    summary: `Create ${words.a}`,
    description: descriptions.create,
    permission: `${noun}:write`,
    headers: ['Idempotency-Key'],
    body: { schema: schemas.create, required: true, examples: examples.create },
    answers: { 201: created() },
    errors: [],
    run: async ({ ctx, body }) => whole(await verbs.create(ctx, body), 201),
  })
  const get = endpoint({
    method: 'GET',
    path: one,
    parameters,
    tag,
    summary: `Get ${words.a}`,
    description: descriptions.get,
    permission: `${noun}:read`,
    answers: { 200: wholeAnswer(`The ${words.whole}.`) },
    errors: [errors.notFound],
    run: async ({ ctx, params }) => whole(await verbs.get(ctx, { id: idOf(params) })),
  })
  const update = endpoint({
    method: 'PUT',
    path: one,
    parameters,
    tag,
    summary: `Change ${words.a}`,
    description: descriptions.update,
    permission: `${noun}:write`,
    headers: ['If-Match'],
    body: { schema: schemas.update, required: true, examples: { name: example('Another name', examples.update) } },
    answers: { 200: wholeAnswer(`The ${words.whole} as saved.`) },
    errors: errors.write,
    run: async ({ ctx, params, body, request }) =>
      whole(await verbs.update(ctx, { id: idOf(params), body, ifMatch: ifMatchOf(request) })),
  })
  const archive = endpoint({
    method: 'DELETE',
    path: one,
    parameters,
    tag,
    summary: `Archive ${words.a}`,
    description: descriptions.archive,
    permission: `${noun}:publish`,
    answers: { 200: wholeAnswer(`The archived ${words.whole}.`, { status: 'archived' }) },
    errors: [errors.notFound, ...(errors.archive ?? [])],
    run: async ({ ctx, params }) => whole(await verbs.archive(ctx, { id: idOf(params) })),
  })
  const unarchive = endpoint({
    method: 'POST',
    path: `${one}/unarchive`,
    parameters,
    tag,
    summary: `Unarchive ${words.a}`,
    description: `Brings an archived ${words.one} back as a draft; one that is not archived stays as it is. Its published version stays published.`,
    permission: `${noun}:publish`,
    headers: ['Idempotency-Key'],
    answers: { 200: wholeAnswer('The draft.', { status: 'draft' }) },
    errors: [errors.notFound],
    run: async ({ ctx, params }) => whole(await verbs.unarchive(ctx, { id: idOf(params) })),
  })
  const publish = endpoint({
    method: 'POST',
    path: `${one}/publish`,
    parameters,
    tag,
    summary: 'Publish the latest version',
    description: descriptions.publish,
    permission: `${noun}:publish`,
    headers: ['Idempotency-Key', 'If-Match'],
    answers: { 200: wholeAnswer(`The published ${words.whole}.`) },
    errors: errors.write,
    run: async ({ ctx, params, request }) =>
      whole(await verbs.publish(ctx, { id: idOf(params), ifMatch: ifMatchOf(request) })),
  })
  const listVersions = endpoint({
    method: 'GET',
    path: `${one}/versions`,
    parameters,
    tag,
    summary: 'List the versions',
    description: descriptions.listVersions,
    permission: `${noun}:read`,
    query: ListVersions,
    answers: {
      200: answer(
        'The versions.',
        z.array(schemas.versionItem),
        { list: example('One version', [examples.versionItem]) },
        ['X-Total-Count', 'Link'],
      ),
    },
    errors: [errors.notFound],
    run: async ({ ctx, params, query, request }) =>
      listAnswer(request, await verbs.listVersions(ctx, { id: idOf(params), page: query })),
  })
  const getVersion = endpoint({
    method: 'GET',
    path: `${one}/versions/{version}`,
    parameters,
    tag,
    summary: 'Get a version',
    description: 'The whole version. `version` is a number, `latest` or `published`.',
    permission: `${noun}:read`,
    answers: {
      200: answer('The version.', schemas.version, { version: example('A version', examples.version) }, ['ETag']),
    },
    errors: [errors.notFound],
    run: async ({ ctx, params }) => whole(await verbs.getVersion(ctx, { id: idOf(params), version: params.version })),
  })
  return { list, create, get, update, archive, unarchive, publish, listVersions, getVersion }
}
