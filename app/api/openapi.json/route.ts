import { answerOpenApi } from '@/server/rest/openapi-document'
import { methods } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/openapi.json', {
  GET: async (request) => answerOpenApi(request),
})
