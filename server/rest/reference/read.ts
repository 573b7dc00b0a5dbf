import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { originOf } from '../../http/origin'
import { isId } from '../../ids'
import type { DocumentedOperation, DocumentedResponse, OpenApiDocument } from '../../openapi/types'
import { typedApi } from '../../typed-api/document'
import type { TypedDocument } from '../../typed-api/parts'
import { usedOf } from '../../typed-api/used'
import { openApiDocument } from '../openapi-document'

/** An agent that answers in text has no call of its own. */
const FOR_TEXT = 'chat'

/**
 * A part of the reference, as a document with nothing else: the calls of one published workflow, agent or tool with
 * their types, or one call of the API.
 * @returns its JSON
 * @throws AppError NOT_FOUND
 */
export async function readReference(
  ctx: ServiceContext,
  { id }: { id: string },
  headers: Headers,
): Promise<{ document: string }> {
  authorize(ctx, 'workflow:read')
  const base = openApiDocument(originOf(headers))
  const paths = pathsOf(base, id)
  if (paths) return { document: JSON.stringify(documentOf(base, paths, base.components)) }
  const own = await typedApi(ctx, base, { workflows: 'published', only: isId(id) ? id : '-' }).catch((err: unknown) => {
    if (err instanceof AppError && err.code === 'INVALID_INPUT') throw new AppError('NOT_FOUND')
    throw err
  })
  const typed = Object.keys(own.paths).length > 0 ? resolved(own) : (pathsOf(base, FOR_TEXT) ?? {})
  const components = { ...own.components, schemas: { ...base.components.schemas, ...own.components.schemas } }
  return { document: JSON.stringify(documentOf(base, typed, components)) }
}

type Paths = OpenApiDocument['paths']

function pathsOf({ paths }: OpenApiDocument, id: string): Paths | null {
  for (const [path, methods] of Object.entries(paths)) {
    const found = Object.entries(methods).find(([, { operationId }]) => operationId === id)
    if (found) return { [path]: Object.fromEntries([found]) }
  }
  return null
}

function documentOf(base: OpenApiDocument, paths: Paths, components: OpenApiDocument['components']): OpenApiDocument {
  const used = usedOf({ paths }, { ...components, parameters: base.components.parameters, examples: {}, headers: {} })
  return { ...base, tags: [], paths, components: { ...used, securitySchemes: {} } }
}

/** With its responses in place of the references to shared ones. */
function resolved({ paths, components }: TypedDocument): Paths {
  const inFull = (response: DocumentedResponse | { $ref: string }): DocumentedResponse => {
    if (!('$ref' in response)) return response
    return components.responses?.[response.$ref.split('/').at(-1) ?? ''] ?? { description: '' }
  }
  const whole = (operation: TypedDocument['paths'][string][string]): DocumentedOperation => ({
    ...operation,
    responses: mapValues(operation.responses, inFull),
  })
  return mapValues(paths, (methods) => mapValues(methods, whole))
}

function mapValues<T, R>(record: Record<string, T>, change: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
