/**
 * Extensions of the files that Postmark refuses to carry, lower case
 * (https://postmarkapp.com/support/article/1056-what-are-the-attachment-and-email-size-limits). It says so by ErrorCode 411.
 */
export const refusedByPostmark: ReadonlySet<string> = new Set(
  `bat bin chm com cpl crt exe hlp hta inf ins isp jse lnk mdb msc msi msp mst pcd pif reg scr sct shs vb vba vbe vbs wsc wsf
  wsh wsl`.split(/\s+/),
);

/**
 * Extensions of the files that Amazon SES refuses to carry, lower case
 * (https://docs.aws.amazon.com/ses/latest/dg/mime-types.html).
 */
export const refusedBySes: ReadonlySet<string> = new Set(
  `ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its js jse ksh lib lnk mad maf mag
  mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg
  prf prg reg scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd ws wsc wsf
  wsh xnk`.split(/\s+/),
);
