import { answerOpenApi } from '@/server/rest/openapi-document'
import { methods } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: async (request) => answerOpenApi(request),
})
