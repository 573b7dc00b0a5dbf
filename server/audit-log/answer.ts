import type { ServiceContext } from '../context'
import { exportAudit } from './export'
import { listAudit } from './list'

/**
 * The list as JSON or, on request, as a CSV file with the link to its next part in a header.
 * @throws AppError INVALID_INPUT
 */
export async function auditAnswer(ctx: ServiceContext, query: Record<string, string | undefined>, request: Request) {
  const accepts = request.headers.get('accept') ?? ''
  const csv = query.format === undefined ? accepts.split(',').some(isCsv) : query.format === 'csv'
  if (!csv) return { body: await listAudit(ctx, query) }
  const { csv: text, nextCursor } = await exportAudit(ctx, query)
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit-log.csv"',
    ...(nextCursor === null ? {} : { link: nextLink(request.url, nextCursor) }),
  }
  return { headers, body: new TextEncoder().encode(text) }
}

const isCsv = (type: string) => type.split(';')[0]?.trim().toLowerCase() === 'text/csv'

function nextLink(url: string, cursor: string): string {
  const { pathname, searchParams } = new URL(url)
  searchParams.set('cursor', cursor)
  searchParams.set('format', 'csv')
  return `<${pathname}?${searchParams}>; rel="next"`
}
