import { followShortLink } from '../../short-link'

export default async function RunLink({ params }: { params: Promise<{ runId: string }> }) {
  const { runId } = await params
  return followShortLink(`/r/${runId}`, 'run', decodeURIComponent(runId), (slug) => `/${slug}/runs/${runId}`)
}
