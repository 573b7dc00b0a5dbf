import { followShortLink } from '../../short-link'

export default async function WorkflowLink({ params }: { params: Promise<{ workflowId: string }> }) {
  const { workflowId } = await params
  const screen = (slug: string) => `/${slug}/workflows/${workflowId}`
  return followShortLink(`/w/${workflowId}`, 'workflow', decodeURIComponent(workflowId), screen)
}
