#include "CWebPage.h"

// #embed is C23; this clang knows it in every mode and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "page/api.js"
};

static const unsigned char area_js[] = {
#embed "page/area.js"
};

static const unsigned char areacard_js[] = {
#embed "page/areacard.js"
};

static const unsigned char basemap_js[] = {
#embed "page/basemap.js"
};

static const unsigned char camera_js[] = {
#embed "page/camera.js"
};

static const unsigned char canvasbase_js[] = {
#embed "page/canvasbase.js"
};

static const unsigned char catalog_js[] = {
#embed "page/catalog.js"
};

static const unsigned char catalogs_js[] = {
#embed "page/catalogs.js"
};

static const unsigned char cluster_js[] = {
#embed "page/cluster.js"
};

static const unsigned char cost_js[] = {
#embed "page/cost.js"
};

static const unsigned char coverage_js[] = {
#embed "page/coverage.js"
};

static const unsigned char dom_js[] = {
#embed "page/dom.js"
};

static const unsigned char drop_js[] = {
#embed "page/drop.js"
};

static const unsigned char extract_js[] = {
#embed "page/extract.js"
};

static const unsigned char forecast_js[] = {
#embed "page/forecast.js"
};

static const unsigned char frame_js[] = {
#embed "page/frame.js"
};

static const unsigned char geo_js[] = {
#embed "page/geo.js"
};

static const unsigned char glyphs_js[] = {
#embed "page/glyphs.js"
};

static const unsigned char holders_js[] = {
#embed "page/holders.js"
};

static const unsigned char index_html[] = {
#embed "page/index.html"
};

static const unsigned char jobpreview_js[] = {
#embed "page/jobpreview.js"
};

static const unsigned char jobs_js[] = {
#embed "page/jobs.js"
};

static const unsigned char labels_js[] = {
#embed "page/labels.js"
};

static const unsigned char language_js[] = {
#embed "page/language.js"
};

static const unsigned char library_js[] = {
#embed "page/library.js"
};

static const unsigned char librarybase_js[] = {
#embed "page/librarybase.js"
};

static const unsigned char main_js[] = {
#embed "page/main.js"
};

static const unsigned char map_js[] = {
#embed "page/map.js"
};

static const unsigned char mapinput_js[] = {
#embed "page/mapinput.js"
};

static const unsigned char mappictures_js[] = {
#embed "page/mappictures.js"
};

static const unsigned char mapslider_js[] = {
#embed "page/mapslider.js"
};

static const unsigned char mapstyle_js[] = {
#embed "page/mapstyle.js"
};

static const unsigned char maptip_js[] = {
#embed "page/maptip.js"
};

static const unsigned char mvt_js[] = {
#embed "page/mvt.js"
};

static const unsigned char order_js[] = {
#embed "page/order.js"
};

static const unsigned char package_js[] = {
#embed "page/package.js"
};

static const unsigned char page_css[] = {
#embed "page/page.css"
};

static const unsigned char proto_js[] = {
#embed "page/proto.js"
};

static const unsigned char qr_js[] = {
#embed "page/qr.js"
};

static const unsigned char share_js[] = {
#embed "page/share.js"
};

static const unsigned char signin_js[] = {
#embed "page/signin.js"
};

static const unsigned char tables_js[] = {
#embed "page/tables.js"
};

static const unsigned char tree_js[] = {
#embed "page/tree.js"
};

static const unsigned char versions_js[] = {
#embed "page/versions.js"
};

static const unsigned char words_js[] = {
#embed "page/words.js"
};

const struct ph_page_file ph_page_files[] = {
    {"api.js", "text/javascript; charset=utf-8", api_js, sizeof api_js},
    {"area.js", "text/javascript; charset=utf-8", area_js, sizeof area_js},
    {"areacard.js", "text/javascript; charset=utf-8", areacard_js, sizeof areacard_js},
    {"basemap.js", "text/javascript; charset=utf-8", basemap_js, sizeof basemap_js},
    {"camera.js", "text/javascript; charset=utf-8", camera_js, sizeof camera_js},
    {"canvasbase.js", "text/javascript; charset=utf-8", canvasbase_js, sizeof canvasbase_js},
    {"catalog.js", "text/javascript; charset=utf-8", catalog_js, sizeof catalog_js},
    {"catalogs.js", "text/javascript; charset=utf-8", catalogs_js, sizeof catalogs_js},
    {"cluster.js", "text/javascript; charset=utf-8", cluster_js, sizeof cluster_js},
    {"cost.js", "text/javascript; charset=utf-8", cost_js, sizeof cost_js},
    {"coverage.js", "text/javascript; charset=utf-8", coverage_js, sizeof coverage_js},
    {"dom.js", "text/javascript; charset=utf-8", dom_js, sizeof dom_js},
    {"drop.js", "text/javascript; charset=utf-8", drop_js, sizeof drop_js},
    {"extract.js", "text/javascript; charset=utf-8", extract_js, sizeof extract_js},
    {"forecast.js", "text/javascript; charset=utf-8", forecast_js, sizeof forecast_js},
    {"frame.js", "text/javascript; charset=utf-8", frame_js, sizeof frame_js},
    {"geo.js", "text/javascript; charset=utf-8", geo_js, sizeof geo_js},
    {"glyphs.js", "text/javascript; charset=utf-8", glyphs_js, sizeof glyphs_js},
    {"holders.js", "text/javascript; charset=utf-8", holders_js, sizeof holders_js},
    {"index.html", "text/html; charset=utf-8", index_html, sizeof index_html},
    {"jobpreview.js", "text/javascript; charset=utf-8", jobpreview_js, sizeof jobpreview_js},
    {"jobs.js", "text/javascript; charset=utf-8", jobs_js, sizeof jobs_js},
    {"labels.js", "text/javascript; charset=utf-8", labels_js, sizeof labels_js},
    {"language.js", "text/javascript; charset=utf-8", language_js, sizeof language_js},
    {"library.js", "text/javascript; charset=utf-8", library_js, sizeof library_js},
    {"librarybase.js", "text/javascript; charset=utf-8", librarybase_js, sizeof librarybase_js},
    {"main.js", "text/javascript; charset=utf-8", main_js, sizeof main_js},
    {"map.js", "text/javascript; charset=utf-8", map_js, sizeof map_js},
    {"mapinput.js", "text/javascript; charset=utf-8", mapinput_js, sizeof mapinput_js},
    {"mappictures.js", "text/javascript; charset=utf-8", mappictures_js, sizeof mappictures_js},
    {"mapslider.js", "text/javascript; charset=utf-8", mapslider_js, sizeof mapslider_js},
    {"mapstyle.js", "text/javascript; charset=utf-8", mapstyle_js, sizeof mapstyle_js},
    {"maptip.js", "text/javascript; charset=utf-8", maptip_js, sizeof maptip_js},
    {"mvt.js", "text/javascript; charset=utf-8", mvt_js, sizeof mvt_js},
    {"order.js", "text/javascript; charset=utf-8", order_js, sizeof order_js},
    {"package.js", "text/javascript; charset=utf-8", package_js, sizeof package_js},
    {"page.css", "text/css; charset=utf-8", page_css, sizeof page_css},
    {"proto.js", "text/javascript; charset=utf-8", proto_js, sizeof proto_js},
    {"qr.js", "text/javascript; charset=utf-8", qr_js, sizeof qr_js},
    {"share.js", "text/javascript; charset=utf-8", share_js, sizeof share_js},
    {"signin.js", "text/javascript; charset=utf-8", signin_js, sizeof signin_js},
    {"tables.js", "text/javascript; charset=utf-8", tables_js, sizeof tables_js},
    {"tree.js", "text/javascript; charset=utf-8", tree_js, sizeof tree_js},
    {"versions.js", "text/javascript; charset=utf-8", versions_js, sizeof versions_js},
    {"words.js", "text/javascript; charset=utf-8", words_js, sizeof words_js},
};
const size_t ph_page_file_count = sizeof ph_page_files / sizeof ph_page_files[0];
