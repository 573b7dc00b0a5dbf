import { z } from 'zod'
import type { JsonObject } from '../definition/json'
import type { ErrorCode } from '../errors'
import { example } from '../openapi/example'
import type { Answer, Example, Operation, Tag } from '../openapi/types'
import { ListVersions } from './list-schema'

/** Where the document differs between agents, tools and workflows. */
export interface VersionedApi {
  /** For example `agent`, `an agent`, `agents`, and the word for the whole content: `agent`, `definition`. */
  words: { one: string; a: string; many: string; whole: string }
  /** The noun in operation ids: `Agent`. */
  idPart: string
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

/** The state of a draft that was never published. */
const DRAFT = { status: 'draft', version: 1, publishedVersion: null, publishedAt: null, hasUnpublishedChanges: true }

const VERSION = { description: 'A number, `latest` or `published`.', example: '1' }

/** Answers that contain the whole content. */
export function wholeAnswers({ words, schemas, examples }: VersionedApi) {
  const answer = (description: string, changed: JsonObject = {}): Answer => ({
    description,
    schema: schemas.whole,
    headers: ['ETag'],
    examples: { [words.one]: example(`The ${words.whole}`, { ...examples.whole, ...changed }) },
  })
  const created = (changed: JsonObject = {}): Answer => ({
    ...answer('The new draft.', { ...DRAFT, ...changed }),
    headers: ['ETag', 'Location'],
  })
  return { answer, created }
}

/** The operations agents, tools and workflows share. */
export function versionedOperations(api: VersionedApi) {
  const { words, idPart, tag, path, schemas, examples, descriptions, errors } = api
  const { answer, created } = wholeAnswers(api)
  const one = `${path}/{${api.id.name}}`
  const parameters = { [api.id.name]: api.id, version: VERSION }
  const plural = `${idPart}s`
  const list: Operation = {
    id: `list${plural}`,
    method: 'GET',
    path,
    tag,
    summary: `List ${words.many}`,
    description: descriptions.list,
    role: 'viewer',
    query: schemas.list,
    answers: {
      200: {
        description: `The ${words.many}.`,
        schema: z.array(schemas.item),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: example(`One ${words.one}`, [examples.item]) },
      },
    },
    errors: [],
  }
  const create: Operation = {
    id: `create${idPart}`,
    method: 'POST',
    path,
    tag,
    summary: `Create ${words.a}`,
    description: descriptions.create,
    role: 'editor',
    headers: ['Idempotency-Key'],
    body: { schema: schemas.create, required: true, examples: examples.create },
    answers: { 201: created() },
    errors: [],
  }
  const get: Operation = {
    id: `get${idPart}`,
    method: 'GET',
    path: one,
    parameters,
    tag,
    summary: `Get ${words.a}`,
    description: descriptions.get,
    role: 'viewer',
    answers: { 200: answer(`The ${words.whole}.`) },
    errors: [errors.notFound],
  }
  const update: Operation = {
    id: `update${idPart}`,
    method: 'PUT',
    path: one,
    parameters,
    tag,
    summary: `Change ${words.a}`,
    description: descriptions.update,
    role: 'editor',
    headers: ['If-Match'],
    body: { schema: schemas.update, required: true, examples: { name: example('Another name', examples.update) } },
    answers: { 200: answer(`The ${words.whole} as saved.`) },
    errors: errors.write,
  }
  const archive: Operation = {
    id: `archive${idPart}`,
    method: 'DELETE',
    path: one,
    parameters,
    tag,
    summary: `Archive ${words.a}`,
    description: descriptions.archive,
    role: 'editor',
    answers: { 200: answer(`The archived ${words.whole}.`, { status: 'archived' }) },
    errors: [errors.notFound, ...(errors.archive ?? [])],
  }
  const unarchive: Operation = {
    id: `unarchive${idPart}`,
    method: 'POST',
    path: `${one}/unarchive`,
    parameters,
    tag,
    summary: `Unarchive ${words.a}`,
    description: `Brings an archived ${words.one} back as a draft; one that is not archived stays as it is.`,
    role: 'editor',
    headers: ['Idempotency-Key'],
    answers: { 200: answer('The draft.', { status: 'draft' }) },
    errors: [errors.notFound],
  }
  const publish: Operation = {
    id: `publish${idPart}`,
    method: 'POST',
    path: `${one}/publish`,
    parameters,
    tag,
    summary: 'Publish the latest version',
    description: descriptions.publish,
    role: 'editor',
    headers: ['Idempotency-Key', 'If-Match'],
    answers: { 200: answer(`The published ${words.whole}.`) },
    errors: errors.write,
  }
  const listVersions: Operation = {
    id: `list${idPart}Versions`,
    method: 'GET',
    path: `${one}/versions`,
    parameters,
    tag,
    summary: 'List the versions',
    description: descriptions.listVersions,
    role: 'viewer',
    query: ListVersions,
    answers: {
      200: {
        description: 'The versions.',
        schema: z.array(schemas.versionItem),
        headers: ['X-Total-Count', 'Link'],
        examples: { list: example('One version', [examples.versionItem]) },
      },
    },
    errors: [errors.notFound],
  }
  const getVersion: Operation = {
    id: `get${idPart}Version`,
    method: 'GET',
    path: `${one}/versions/{version}`,
    parameters,
    tag,
    summary: 'Get a version',
    description: 'The whole version. `version` is a number, `latest` or `published`.',
    role: 'viewer',
    answers: {
      200: {
        description: 'The version.',
        schema: schemas.version,
        headers: ['ETag'],
        examples: { version: example('A version', examples.version) },
      },
    },
    errors: [errors.notFound],
  }
  return { list, create, get, update, archive, unarchive, publish, listVersions, getVersion }
}
