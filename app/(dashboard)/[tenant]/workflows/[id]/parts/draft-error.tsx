import { ErrorState } from '@/app/_ui/error-state'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { detailText } from '../model/problem-names'

/** Why the service refused the draft. Its details are the draft's problems, which name steps as other screens do. */
export function DraftError(props: {
  error: unknown
  title: string
  definition: Definition
  catalog: Catalog | undefined
}) {
  const { error, title, definition, catalog } = props
  return <ErrorState error={error} title={title} textOf={(detail) => detailText(detail, definition, catalog)} />
}
