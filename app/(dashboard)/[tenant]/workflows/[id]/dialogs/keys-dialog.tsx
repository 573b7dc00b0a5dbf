'use client'
import { Dialog } from '@/app/_ui/dialog'
import { EDITOR_KEYS, KeyList } from '../../../key-list'

/** The keyboard shortcuts of the editor alone. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Editor shortcuts" size="xl">
      <KeyList groups={EDITOR_KEYS} />
    </Dialog>
  )
}
