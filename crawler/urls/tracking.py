"""Parameters that say where a visitor came from, and nothing about the page.

A name is here only if the tool that sets it documents it and no page is known to be chosen by it.
"""

from __future__ import annotations

from crawler.urls.arguments import Removal

# Universal Transverse Mercator: the coordinates of a map sheet are utm_ too, and choose the page.
_GEOGRAPHY = (
    "utm_(?:zone|band|datum|epsg|srid|hemi(?:sphere)?|north(?:ing)?|east(?:ing)?"
    "|lat(?:itude)?|lon(?:g|gitude)?|lng|coord[a-z]*|grid[a-z]*|sheet|square|tile)"
)

# https://support.google.com/analytics/answer/10917952; other tools add names of their own. Names of
# one or two letters (utm_x, utm_e) are coordinates as well.
remove_utm = Removal(r"utm_[a-z][a-z_-]{2,}", keep=_GEOGRAPHY)

remove_click_ids = Removal(
    "gclid|gclsrc|gbraid|wbraid|dclid|gad_source|gad_campaignid|srsltid"  # Google
    "|fbclid|igshid|igsh"  # Facebook, Instagram
    "|msclkid"  # Microsoft
    "|yclid|ysclid|ymclid"  # Yandex
    "|twclid|ttclid|rdt_cid|li_fat_id|sccid|epik"  # X, TikTok, Reddit, LinkedIn, Snap, Pinterest
    "|irclickid"  # Impact
)

# Links between one owner's sites carry the visitor's cookie along.
remove_analytics = Removal(
    "_ga|_gl|_gac"  # Google
    "|(?:mtm|matomo|pk|piwik)_(?:campaign|keyword|kwd|source|medium|content|cid|group|placement)"
    "|_openstat"  # Yandex
)

remove_mailing = Removal(
    "mc_cid|mc_eid|mc_tc"  # Mailchimp
    "|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking"  # HubSpot
    "|mkt_tok"  # Marketo
    "|oly_enc_id|oly_anon_id|vero_id|vero_conv|_ke|ck_subscriber_id"  # Omeda, Vero, Klaviyo, Kit
)
