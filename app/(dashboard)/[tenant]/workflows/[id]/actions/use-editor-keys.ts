'use client'
import { useEffect, useRef } from 'react'
import { shortcutKey } from '@/app/_ui/keys'
import { singleKeysAllowed } from '@/app/_ui/single-keys'
import type { DraftControl } from '../draft/use-draft'
import { START } from '../model/definition'
import { readClipboard } from '../model/fragment'
import type { CanvasHandle, EditorDialog } from './screen'
import type { ScreenActions } from './use-editor-actions'

interface Options {
  actions: ScreenActions
  draft: DraftControl
  selection: readonly string[]
  canvas: CanvasHandle | null
  readOnly: boolean
  setDialog: (dialog: EditorDialog) => void
  /** The selected steps as clipboard text, or null. */
  copied: () => string | null
}

/** Shortcuts that work in every view while no field is focused and no dialog is open. */
export function useEditorKeys(options: Options): void {
  const ref = useRef(options)
  ref.current = options
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        !event.defaultPrevented &&
        (runModifierShortcut(event, ref.current) || runSingleKeyShortcut(event, ref.current))
      )
        event.preventDefault()
    }
    const onCopy = (event: ClipboardEvent) => {
      const text = takesClipboard(event) ? ref.current.copied() : null
      if (text === null) return
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
      const { selection, actions } = ref.current
      actions.announce(selection.length === 1 ? 'Step copied.' : `${selection.length} steps copied.`, true)
    }
    const onPaste = (event: ClipboardEvent) => {
      if (!takesClipboard(event) || ref.current.readOnly) return
      const found = readClipboard(event.clipboardData?.getData('text/plain') ?? '')
      event.preventDefault()
      if (found.kind === 'fragment') ref.current.actions.paste(found.fragment)
      else if (found.kind === 'definition') ref.current.setDialog({ kind: 'paste', definition: found.definition })
      else ref.current.actions.announce(found.reason, true)
    }
    window.addEventListener('keydown', onKey)
    document.addEventListener('copy', onCopy)
    document.addEventListener('paste', onPaste)
    return () => {
      window.removeEventListener('keydown', onKey)
      document.removeEventListener('copy', onCopy)
      document.removeEventListener('paste', onPaste)
    }
  }, [])
}

function runModifierShortcut(event: KeyboardEvent, { draft, actions }: Options): boolean {
  if ((!event.ctrlKey && !event.metaKey) || event.altKey) return false
  const key = shortcutKey(event).toLowerCase()
  if (key === 's') {
    void draft.saveNow()
    return true
  }
  // A focused field has its own undo and search.
  if (inField(event.target) || dialogOpen()) return false
  if (key === 'z') {
    if (event.shiftKey) actions.redo()
    else actions.undo()
  } else if (key === 'y') actions.redo()
  else if (key === 'f') actions.openFind()
  else return false
  return true
}

function runSingleKeyShortcut(
  event: KeyboardEvent,
  { actions, selection, canvas, readOnly, setDialog }: Options,
): boolean {
  if (!singleKeysAllowed(event)) return false
  const [only] = selection.length === 1 ? selection : []
  const key = shortcutKey(event)
  if (key === '1') canvas?.fit()
  else if (key === '0') canvas?.naturalSize()
  else if (key === 'T') actions.tidy()
  else if (key === 'Escape' && selection.length > 0) actions.select([])
  else if (key === '?') return false
  else if (readOnly) return false
  else if (key === 'a' || key === 'A') actions.add()
  else if ((key === 'Delete' || key === 'Backspace') && selection.some((id) => id !== START)) {
    if (event.shiftKey) actions.removeWithGap(selection)
    else actions.remove(selection)
  } else if (only === undefined) return false
  else if (key === 'l') actions.openConnect(only)
  else if (key === 'L') actions.openDisconnect(only)
  else if (key === 'F2') {
    if (only !== START) setDialog({ kind: 'rename', stepId: only })
  } else return false
  return true
}

function inField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null
}

function dialogOpen(): boolean {
  return document.querySelector('[role="dialog"]') !== null
}

/** Selected text, fields and dialogs use the clipboard themselves. */
function takesClipboard(event: ClipboardEvent): boolean {
  if (inField(event.target) || dialogOpen()) return false
  return (window.getSelection()?.toString() ?? '') === ''
}
