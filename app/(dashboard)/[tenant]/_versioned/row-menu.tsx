'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Archive, ArchiveRestore, Copy, CopyPlus, Ellipsis, ExternalLink } from 'lucide-react'
import { Link } from '@/app/_ui/link'
import { notifyDone } from '@/app/_ui/notify'

/** A row's actions. Absent actions are not in the menu. */
export interface RowVerbs {
  curl?: string
  duplicate?: () => void
  archive?: () => void
  restore?: () => void
}

export function RowMenu({ name, href, verbs }: { name: string; href: string; verbs: RowVerbs }) {
  const clipboard = useClipboard()
  const { curl, duplicate, archive, restore } = verbs
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${name}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} href={href} leftSection={<ExternalLink size={16} aria-hidden />}>
          Open
        </Menu.Item>
        {curl && (
          <Menu.Item
            leftSection={<Copy size={16} aria-hidden />}
            onClick={() => {
              clipboard.copy(curl)
              notifyDone('Copied the curl command. Set API_KEY before you run it.')
            }}
          >
            Copy as curl
          </Menu.Item>
        )}
        {duplicate && (
          <Menu.Item leftSection={<CopyPlus size={16} aria-hidden />} onClick={duplicate}>
            Duplicate
          </Menu.Item>
        )}
        {archive && (
          <Menu.Item leftSection={<Archive size={16} aria-hidden />} onClick={archive}>
            Archive
          </Menu.Item>
        )}
        {restore && (
          <Menu.Item leftSection={<ArchiveRestore size={16} aria-hidden />} onClick={restore}>
            Restore
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
