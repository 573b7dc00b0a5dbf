import { checkHealth } from '@/server/health'

export async function GET(): Promise<Response> {
  const health = await checkHealth()
  return Response.json(health, { status: health.status === 'ok' ? 200 : 503, headers: { 'cache-control': 'no-store' } })
}
