'use client'
import { CopyButton } from '@/app/_ui/copy-button'
import { useTenant } from '../tenant-context'
import { startCurl } from '../workflows/start-curl'
import { useStartFields } from '../workflows/use-start-fields'

/** Copies the command that starts a workflow. */
export function CurlButton({ workflowId }: { workflowId: string }) {
  const { id: tenantId } = useTenant()
  const fields = useStartFields(workflowId)
  const text = fields.data
    ? startCurl({ origin: window.location.origin, tenantId, workflowId, fields: fields.data })
    : ''
  return <CopyButton text={text}>Copy curl</CopyButton>
}
