'use client'
import dynamic from 'next/dynamic'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { Created } from '../../../_new/create-and-publish'
import type { Callee } from '../actions/screen'

const NewTool = dynamic(
  () => loadDialog(() => import('../../../tools/new-tool-dialog').then((module) => module.NewToolDialog)),
  { ssr: false, loading: WaitingDialog },
)
const NewAgent = dynamic(
  () => loadDialog(() => import('../../../agents/new-agent-dialog').then((module) => module.NewAgentDialog)),
  { ssr: false, loading: WaitingDialog },
)
const NewWorkflow = dynamic(
  () => loadDialog(() => import('../../new-workflow-dialog').then((module) => module.NewWorkflowDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** Creates what a step calls, over the editor. */
export function CreateDialog(props: { what: Callee; onClose: () => void; onCreated: (created: Created) => void }) {
  const { what, ...rest } = props
  if (what === 'tool') return <NewTool {...rest} />
  if (what === 'agent') return <NewAgent {...rest} />
  return <NewWorkflow begin="blank" {...rest} />
}
