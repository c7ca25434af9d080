/**
 * Extensions of the files that Postmark refuses to carry, lower case
 * (https://postmarkapp.com/support/article/1056-what-are-the-attachment-and-email-size-limits). It says so by ErrorCode 411.
 */
export const refusedByPostmark: ReadonlySet<string> = new Set(
  `bat bin chm com cpl crt exe hlp hta inf ins isp jse lnk mdb msc msi msp mst pcd pif reg scr sct shs vb vba vbe vbs wsc wsf
  wsh wsl`.split(/\s+/),
);

/** The extension of a file's name, lower case and without its dot; empty where there is none. */
export function extensionOf(filename: string): string {
  return /\.([^.\s]+)\s*$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}
