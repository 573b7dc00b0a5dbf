import type { Definition } from '@/server/definition/schema'
import type { Next } from '@/server/runs/step-through/next'
import type { Stood } from '@/server/runs/step-through/step-through'
import type { Catalog } from '@/server/steps/catalog'
import type { SaveNow } from '../actions/screen'
import type { Came, How, Session } from './step-through-store'

/** Where a draft stands that is stepped through. */
export interface NextProps {
  workflowId: string
  definition: Definition
  catalog: Catalog
  session: Session
  stood: Stood
  busy: boolean
  save: SaveNow
  onGo: (session: Session) => void
}

/** Also the visit that comes next, and how it is said what comes of it. */
export type OutcomeProps = NextProps & { next: Next; onSay: (came: Came, how: How) => void }
