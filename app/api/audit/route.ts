import { auditAnswer } from '@/server/audit-log/answer'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/audit', {
  GET: route(({ ctx, query, request }) => auditAnswer(ctx, query, request)),
})
