import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { HeaderSkeleton } from '../../header-skeleton'

export default function Loading() {
  return (
    <>
      <HeaderSkeleton here="settings" />
      <PageBody narrow>
        <Skeleton height={420} radius="md" />
      </PageBody>
    </>
  )
}
