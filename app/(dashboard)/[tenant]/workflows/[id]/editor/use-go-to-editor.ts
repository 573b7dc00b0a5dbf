'use client'
import { useRouter } from 'next/navigation'
import { useTenant } from '../../../tenant-context'
import type { GoTo } from '../actions/screen'
import { START } from '../model/definition'

/** Navigates from another page of the workflow to a problem's place in the editor: its step or START. */
export function useGoToEditor(workflowId: string): GoTo {
  const router = useRouter()
  const { path } = useTenant()
  return ({ stepId, field }) => {
    const step = stepId ?? (field?.startsWith('payload') ? START : null)
    const query = step === null ? '' : `?step=${encodeURIComponent(step)}`
    router.push(path(`/workflows/${encodeURIComponent(workflowId)}${query}`))
  }
}
