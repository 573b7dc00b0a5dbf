import { methods } from '@/server/http/route'
import { answerOpenApi } from '@/server/openapi/document'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: async (request) => answerOpenApi(request),
})
