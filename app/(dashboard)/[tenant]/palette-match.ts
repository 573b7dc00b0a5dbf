import type { LucideIcon } from 'lucide-react'

export interface Command {
  id: string
  group: string
  label: string
  /** Its keys, or its state. */
  hint?: string
  icon: LucideIcon
  run: () => void
}

/** Those in whose names every word that was typed begins a word, those that begin with the text first. */
export function matching<C extends { label: string }>(commands: C[], text: string): C[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return commands
  const first = (command: C) => (command.label.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1)
  return commands
    .filter(({ label }) => {
      const parts = label.toLowerCase().split(/[^\p{L}\p{N}]+/u)
      return words.every((word) => parts.some((part) => part.startsWith(word)))
    })
    .sort((a, b) => first(a) - first(b))
}
