import type { LucideIcon } from 'lucide-react'

export interface Command {
  id: string
  group: string
  label: string
  /** Its shortcut or state. */
  hint?: string
  icon: LucideIcon
  run: () => void
}

/** The commands for which every typed word starts a word of the label. Labels that start with the text come first. */
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
