'use client'
import { Dialog } from '@/app/_ui/dialog'
import { EDITOR_KEYS, KeyList } from '../../../key-list'

/** The editor's part of all keyboard shortcuts. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Editor shortcuts" size="xl">
      <KeyList groups={EDITOR_KEYS} />
    </Dialog>
  )
}
