import dynamic from 'next/dynamic'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { RunDialogProps } from './run-dialog'

/** The dialog that starts a workflow, with its form: loaded when it is first opened. */
export const RunDialog = dynamic<RunDialogProps>(
  () => loadDialog(() => import('./run-dialog').then((module) => module.RunDialog)),
  { ssr: false, loading: WaitingDialog },
)
