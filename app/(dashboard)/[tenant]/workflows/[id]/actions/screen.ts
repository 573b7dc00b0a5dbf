import type { Definition } from '@/server/definition/schema'
import type { Created } from '../../../_new/create-and-publish'
import type { Position } from '../model/definition'
import type { InsertPoint } from '../model/edit-steps'

/** The editor's handle on the canvas. */
export interface CanvasHandle {
  fit(): void
  naturalSize(): void
  /** Scrolls to a step and focuses it. */
  show(stepId: string): void
}

/** What a step can call. */
export type Callee = 'tool' | 'agent' | 'workflow'

/** The editor's dialogs. Only one is open at a time. */
export type EditorDialog =
  | { kind: 'picker'; insertPoint: InsertPoint; at: Position | null }
  | { kind: 'connect'; from: string; exit: string }
  | { kind: 'disconnect'; from: string }
  | { kind: 'replace'; from: string; exit: string; to: string; replaces: string }
  | { kind: 'rename'; stepId: string }
  | { kind: 'create'; what: Callee; onCreated: (created: Created) => void }
  | { kind: 'paste'; definition: Definition }
  | { kind: 'find' }
  | { kind: 'keys' }
  | { kind: 'describe' }

/** Saves the draft. Resolves to the server's new version, or null if the save failed. */
export type SaveNow = () => Promise<number | null>

/** Shows the step and field of a problem or change. */
export type GoTo = (target: { stepId?: string | undefined; field?: string | undefined }) => void
