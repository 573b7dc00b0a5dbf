'use client'
import { useClipboard } from '@mantine/hooks'
import { Archive, ArchiveRestore, CopyPlus, ExternalLink, SquareTerminal } from 'lucide-react'
import { notifyDone } from '@/app/_ui/notify'
import { ForDevelopersRows, RowAction, RowLink, RowMenu } from '@/app/_ui/row-menu'

/** A row's actions. Absent actions are not in the menu. */
export interface RowVerbs {
  curl?: string
  duplicate?: () => void
  archive?: () => void
  restore?: () => void
}

export function ResourceMenu({ name, href, verbs }: { name: string; href: string; verbs: RowVerbs }) {
  const clipboard = useClipboard()
  const { curl, duplicate, archive, restore } = verbs
  return (
    <RowMenu of={name} width={220}>
      <RowLink icon={ExternalLink} href={href}>
        Open
      </RowLink>
      {duplicate && (
        <RowAction icon={CopyPlus} onClick={duplicate}>
          Duplicate
        </RowAction>
      )}
      {archive && (
        <RowAction icon={Archive} onClick={archive}>
          Archive
        </RowAction>
      )}
      {restore && (
        <RowAction icon={ArchiveRestore} onClick={restore}>
          Restore
        </RowAction>
      )}
      {curl && (
        <ForDevelopersRows>
          <RowAction
            icon={SquareTerminal}
            onClick={() => {
              clipboard.copy(curl)
              notifyDone('Copied the curl command. Set API_KEY before you run it.')
            }}
          >
            Copy as curl
          </RowAction>
        </ForDevelopersRows>
      )}
    </RowMenu>
  )
}
