import type { ServiceContext } from '../../context'
import { originOf } from '../../http/origin'
import { listTyped } from '../../typed-api/list'
import { openApiDocument } from '../openapi-document'

/**
 * The contents of a workspace's reference: its published workflows, agents and tools, and the calls of the API. Their
 * details are read one by one (`read.ts`), so a workspace with a thousand workflows opens as quickly as an empty one.
 */
export async function openReference(ctx: ServiceContext, headers: Headers) {
  const { paths, tags } = openApiDocument(originOf(headers))
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      summary: operation.summary,
      tag: operation.tags[0] ?? '',
    })),
  )
  return { objects: await listTyped(ctx), calls, tags: tags.map(({ name }) => name) }
}
