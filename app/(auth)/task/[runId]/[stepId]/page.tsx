import { followShortLink } from '../../../short-link'

export default async function TaskLink({ params }: { params: Promise<{ runId: string; stepId: string }> }) {
  const { runId, stepId } = await params
  const task = encodeURIComponent(`${decodeURIComponent(runId)}:${decodeURIComponent(stepId)}`)
  const screen = (slug: string) => `/${slug}/inbox?task=${task}`
  return followShortLink(`/task/${runId}/${stepId}`, 'run', decodeURIComponent(runId), screen)
}
