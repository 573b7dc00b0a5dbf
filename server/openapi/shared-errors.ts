import type { DocumentedOperation, DocumentedResponse, OpenApiDocument, Reference } from './types'

type Shared = OpenApiDocument<DocumentedResponse | Reference>

/**
 * The same document with each error response written once, under `components/responses`. Operations with the same
 * errors would otherwise repeat half of the document.
 */
export function withSharedErrors(document: OpenApiDocument): Shared {
  const responses: Record<string, DocumentedResponse> = {}
  const share = ([status, response]: [string, DocumentedResponse]) => {
    const codes = codesOf(response)
    if (codes.length === 0) return [status, response] as const
    const name = codes.map(wordsOf).join('Or')
    responses[name] = response
    return [status, { $ref: `#/components/responses/${name}` }] as const
  }
  const operationOf = (operation: DocumentedOperation) => ({
    ...operation,
    responses: Object.fromEntries(Object.entries(operation.responses).map(share)),
  })
  const pathOf = (path: Record<string, DocumentedOperation>) =>
    Object.fromEntries(Object.entries(path).map(([method, operation]) => [method, operationOf(operation)]))
  const paths = Object.fromEntries(Object.entries(document.paths).map(([path, methods]) => [path, pathOf(methods)]))
  return { ...document, paths, components: { ...document.components, responses } }
}

/** The codes of an error response, by its references to examples; empty for another response. */
function codesOf({ content }: DocumentedResponse): string[] {
  const examples = Object.entries(content?.['application/json']?.examples ?? {})
  return examples.flatMap(([code, example]) => ('$ref' in example ? [code] : []))
}

/** `RUN_NOT_FOUND` as `RunNotFound`. */
function wordsOf(code: string): string {
  return code.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}
