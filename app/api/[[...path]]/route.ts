import { answerNotFound } from '@/server/http/not-found'

export const GET = answerNotFound
export const POST = answerNotFound
export const PUT = answerNotFound
export const PATCH = answerNotFound
export const DELETE = answerNotFound
export const OPTIONS = answerNotFound
