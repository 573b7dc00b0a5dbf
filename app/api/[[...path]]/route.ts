import { nowhere } from '@/server/http/not-found'

export const GET = nowhere
export const POST = nowhere
export const PUT = nowhere
export const PATCH = nowhere
export const DELETE = nowhere
export const OPTIONS = nowhere
